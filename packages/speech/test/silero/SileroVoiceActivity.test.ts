import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeSileroVoiceActivity } from "../../src/silero/SileroVoiceActivity.ts"
import { speakToWav, withSilence } from "../../src/testing/speakToWav.ts"
import { pushAll, until } from "../cases/transcriberCases.ts"
import { voiceActivityCases } from "../cases/voiceActivityCases.ts"

interface Window {
  readonly probability: number
  readonly endSample: number
}

/** Two seconds of nothing, a sentence, two seconds of nothing. */
const sentence = withSilence([speakToWav("I would like to book an appointment for tomorrow morning please")], 2000)
const voicedFrom = 2000 * 16
const voicedTo = sentence.length - 2000 * 16

voiceActivityCases("silero", makeSileroVoiceActivity(), {
  samples: sentence,
  voicedFrom: voicedFrom + 4000,
  voicedTo: voicedTo - 6000
})

describe("SileroVoiceActivity", () => {
  it.live("tells speech from silence and counts samples, however they are pushed", () =>
    Effect.gen(function* () {
      const activity = yield* makeSileroVoiceActivity()
      const runs: Array<Array<Window>> = []
      for (const size of [320, 512, 1000, sentence.length]) {
        const seen: Array<Window> = []
        runs.push(seen)
        const stream = yield* activity.open((probability, endSample) => seen.push({ probability, endSample }))
        for (let at = 0; at < sentence.length; at += size) stream.push(sentence.slice(at, at + size))
      }
      const windows = Math.floor(sentence.length / 512)
      yield* until(() => runs.every((run) => run.length === windows))
      const first = runs[0] ?? []
      expect(first.map((window) => window.endSample)).toEqual(Array.from({ length: windows }, (_, i) => (i + 1) * 512))
      const inside = first.filter(
        (window) => window.endSample > voicedFrom + 4000 && window.endSample < voicedTo - 6000
      )
      const outside = first.filter((window) => window.endSample < voicedFrom || window.endSample > voicedTo + 8000)
      expect(inside.filter((window) => window.probability > 0.5).length / inside.length).toBeGreaterThan(0.8)
      expect(outside.every((window) => window.probability < 0.5)).toBe(true)
      for (const run of runs) {
        for (const [i, window] of run.entries()) expect(window.probability).toBeCloseTo(first[i]?.probability ?? -1, 4)
      }
    })
  )

  it.live("keeps many streams apart when it batches them", () =>
    Effect.gen(function* () {
      const activity = yield* makeSileroVoiceActivity()
      const alone: Array<number> = []
      const one = yield* activity.open((probability) => alone.push(probability))
      pushAll(one, sentence)
      yield* until(() => alone.length === Math.floor(sentence.length / 512))
      const seen = Array.from({ length: 20 }, (): Array<number> => [])
      const streams = yield* Effect.forEach(seen, (list) => activity.open((probability) => list.push(probability)))
      // Every second stream hears silence: a mixed-up state would show at once.
      for (let at = 0; at < sentence.length; at += 320) {
        for (const [i, stream] of streams.entries()) {
          stream.push(i % 2 === 0 ? sentence.slice(at, at + 320) : new Int16Array(Math.min(320, sentence.length - at)))
        }
        if (at % 3200 === 0) yield* Effect.sleep(15)
      }
      yield* until(() => seen.every((list) => list.length === alone.length))
      for (const [i, list] of seen.entries()) {
        if (i % 2 === 1) expect(Math.max(...list)).toBeLessThan(0.5)
        else for (const [k, probability] of list.entries()) expect(probability).toBeCloseTo(alone[k] ?? -1, 3)
      }
    })
  )

  it.live("says nothing after its scope closed", () =>
    Effect.gen(function* () {
      const activity = yield* makeSileroVoiceActivity()
      let seen = 0
      const stream = yield* Effect.scoped(activity.open(() => seen++))
      stream.push(sentence)
      const other: Array<number> = []
      const witness = yield* activity.open((probability) => other.push(probability))
      witness.push(sentence.slice(0, 512))
      yield* until(() => other.length === 1)
      expect(seen).toBe(0)
    })
  )

  it.live("replaces a thread that dies; open streams go on", () =>
    Effect.gen(function* () {
      const activity = yield* makeSileroVoiceActivity({ program: new URL("./dyingThread.ts", import.meta.url) })
      const seen: Array<Window> = []
      const stream = yield* activity.open((probability, endSample) => seen.push({ probability, endSample }))
      stream.push(new Int16Array(512).fill(7))
      let pushed = 512
      yield* until(() => {
        stream.push(new Int16Array(512))
        pushed += 512
        return seen.length > 0
      })
      expect(seen[0]?.probability).toBe(0.25)
      expect(seen[0]?.endSample).toBeGreaterThan(512)
      expect(seen[0]?.endSample).toBeLessThanOrEqual(pushed)
    })
  )

  it.live("fails to open in bounded time when the thread never comes up", () =>
    Effect.gen(function* () {
      const activity = yield* makeSileroVoiceActivity({
        program: new URL("./absent.ts", import.meta.url),
        startMs: 200
      })
      expect(yield* Effect.flip(Effect.scoped(activity.open(() => {})))).toMatchObject({
        reason: "Timeout",
        provider: "silero"
      })
    })
  )
})
