import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { SpeechError } from "../../src/ports/SpeechError.ts"
import type { SpeechChunk } from "../../src/ports/Synthesizer.ts"
import type { TranscriptEvent } from "../../src/ports/Transcriber.ts"
import { makeScriptedSynthesizer } from "../../src/testing/ScriptedSynthesizer.ts"
import { makeScriptedTranscriber } from "../../src/testing/ScriptedTranscriber.ts"
import { loudSentence } from "../cases/loudSentence.ts"
import { voiceActivityCases } from "../cases/voiceActivityCases.ts"
import { makeScriptedVoiceActivity } from "../../src/testing/ScriptedVoiceActivity.ts"

const request = { text: "one two", voice: "", speed: 1, language: "en", urgent: true }
const dead = new SpeechError({ reason: "Unavailable", provider: "scripted", message: "gone" })
const loud = new Int16Array(1600).fill(9000)

describe("ScriptedSynthesizer", () => {
  it.effect("waits, then gives the tone and the word times", () =>
    Effect.gen(function* () {
      const synthesizer = makeScriptedSynthesizer({ firstAudioMs: 150, realtimeFactor: 0.5, sampleRate: 8000 })
      const chunks: Array<SpeechChunk> = []
      const fiber = yield* synthesizer.synthesize(request).pipe(
        Stream.runForEach((chunk) => Effect.sync(() => chunks.push(chunk))),
        Effect.forkChild
      )
      yield* TestClock.adjust(149)
      expect(chunks).toHaveLength(0)
      yield* TestClock.adjust(1)
      expect(chunks).toHaveLength(1)
      yield* TestClock.adjust(50)
      expect(chunks).toHaveLength(2)
      yield* TestClock.adjust(1000)
      yield* Fiber.join(fiber)
      const samples = chunks.reduce((sum, chunk) => sum + (chunk._tag === "Audio" ? chunk.samples.length : 0), 0)
      expect(samples).toBe((7 * 60 * 8000) / 1000)
      const last = chunks.at(-1)
      expect(last?._tag === "Words" && last.words.map((word) => [word.text, word.startMs, word.endMs])).toEqual([
        ["one", 0, 180],
        ["two", 240, 420]
      ])
      expect(synthesizer.running()).toBe(0)
      expect(synthesizer.interrupted()).toBe(0)
    })
  )

  it.effect("counts an interruption and fails where the script says", () =>
    Effect.gen(function* () {
      const synthesizer = makeScriptedSynthesizer({
        perRequest: (_, n) => (n === 0 ? { firstAudioMs: Infinity } : { fail: { afterAudioMs: 200, error: dead } })
      })
      const hanging = yield* Effect.forkChild(Stream.runDrain(synthesizer.synthesize(request)))
      yield* TestClock.adjust(10_000)
      expect(synthesizer.running()).toBe(1)
      yield* Fiber.interrupt(hanging)
      expect([synthesizer.running(), synthesizer.interrupted()]).toEqual([0, 1])
      let chunks = 0
      const failing = yield* synthesizer.synthesize(request).pipe(
        Stream.runForEach(() => Effect.sync(() => chunks++)),
        Effect.flip,
        Effect.forkChild
      )
      yield* TestClock.adjust(1000)
      expect(yield* Fiber.join(failing)).toBe(dead)
      expect(chunks).toBe(2)
    })
  )
})

describe("ScriptedTranscriber", () => {
  it.effect("uncovers words as it hears, answers each commit once, ignores silence", () =>
    Effect.gen(function* () {
      const events: Array<TranscriptEvent> = []
      const transcriber = makeScriptedTranscriber({ utterances: ["good morning", ""], msPerWord: 200 })
      const stream = yield* transcriber.open({
        language: "en",
        keyterms: [],
        onEvent: (event) => events.push(event),
        onFailure: () => {}
      })
      stream.push(loud)
      stream.push(loud)
      stream.discard()
      for (let i = 0; i < 4; i++) stream.push(loud)
      stream.commit()
      stream.push(new Int16Array(1600))
      stream.commit()
      yield* TestClock.adjust(149)
      expect(events.map((event) => event.text)).toEqual(["good", "good", "good morning"])
      yield* TestClock.adjust(1)
      expect(events.at(-1)).toMatchObject({ _tag: "Final", text: "good morning" })
      yield* TestClock.adjust(1000)
      expect(events.filter((event) => event._tag === "Final").map((event) => event.text)).toEqual(["good morning", ""])
    })
  )

  it.effect("dies by the script, and a reopened stream goes on with it", () =>
    Effect.gen(function* () {
      const errors: Array<SpeechError> = []
      const transcriber = makeScriptedTranscriber({
        utterances: [{ text: "lost", fail: { afterMs: 100, error: dead } }, "kept"],
        openFailure: (n) => (n === 1 ? dead : undefined)
      })
      const events: Array<TranscriptEvent> = []
      const opening = {
        language: "en",
        keyterms: [],
        onEvent: (event: TranscriptEvent) => void events.push(event),
        onFailure: (error: SpeechError) => void errors.push(error)
      }
      const first = yield* transcriber.open(opening)
      first.push(loud)
      first.push(loud)
      expect(errors).toEqual([dead])
      expect(transcriber.running()).toBe(0)
      expect(yield* Effect.flip(transcriber.open(opening))).toBe(dead)
      const again = yield* transcriber.open(opening)
      again.push(loud)
      again.commit()
      yield* TestClock.adjust(200)
      expect(events).toMatchObject([{ _tag: "Final", text: "kept" }])
    })
  )
})

voiceActivityCases(
  "scripted",
  Effect.sync(() => makeScriptedVoiceActivity()),
  loudSentence
)

describe("ScriptedVoiceActivity", () => {
  it.effect("rates windows by loudness, at once or after a delay", () =>
    Effect.gen(function* () {
      const seen: Array<[number, number]> = []
      const atOnce = yield* makeScriptedVoiceActivity().open((p, end) => seen.push([p, end]))
      atOnce.push(new Int16Array(512))
      atOnce.push(loud.subarray(0, 511))
      expect(seen).toEqual([[0.01, 512]])
      atOnce.push(loud.subarray(0, 1))
      expect(seen[1]).toEqual([0.98, 1024])
      const later = yield* makeScriptedVoiceActivity({ delayMs: 12 }).open((p, end) => seen.push([p, end]))
      later.push(loud)
      yield* TestClock.adjust(11)
      expect(seen).toHaveLength(2)
      yield* TestClock.adjust(1)
      expect(seen.slice(2).map(([, end]) => end)).toEqual([512, 1024, 1536])
    })
  )
})
