// What every adapter of the voice activity port promises.
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import type { SpeechError } from "../../src/ports/SpeechError.ts"
import { windowSamples } from "../../src/ports/VoiceActivity.ts"
import type { VoiceActivity } from "../../src/ports/VoiceActivity.ts"
import { until } from "./transcriberCases.ts"

export interface SeenWindow {
  readonly probability: number
  readonly endSample: number
}

/**
 * `voice` is speech at 16 kHz that begins and ends with silence; `voicedFrom` and `voicedTo` (samples) bound a part of it
 * in which most windows hold a voice.
 */
export const voiceActivityCases = (
  name: string,
  make: Effect.Effect<VoiceActivity, SpeechError, Scope.Scope>,
  voice: { readonly samples: Int16Array; readonly voicedFrom: number; readonly voicedTo: number }
): void => {
  const { samples, voicedFrom, voicedTo } = voice
  const windows = Math.floor(samples.length / windowSamples)

  const run = Effect.fnUntraced(function* (activity: VoiceActivity, size: number, given: Int16Array = samples) {
    const seen: Array<SeenWindow> = []
    const stream = yield* activity.open((probability, endSample) => seen.push({ probability, endSample }))
    for (let at = 0; at < given.length; at += size) stream.push(given.slice(at, at + size))
    return seen
  })

  describe(`voice activity port: ${name}`, () => {
    it.live("gives one probability for each whole window, in order, whatever the length of the pushes", () =>
      Effect.gen(function* () {
        const activity = yield* make
        for (const size of [160, 320, windowSamples, 1000, samples.length]) {
          const seen = yield* run(activity, size)
          yield* until(() => seen.length >= windows)
          yield* Effect.sleep(20)
          expect(seen.map(({ endSample }) => endSample)).toEqual(
            Array.from({ length: windows }, (_, i) => (i + 1) * windowSamples)
          )
          expect(seen.every(({ probability }) => probability >= 0 && probability <= 1)).toBe(true)
        }
      }).pipe(Effect.scoped)
    )

    it.live("tells a voice from silence", () =>
      Effect.gen(function* () {
        const seen = yield* run(yield* make, 320)
        yield* until(() => seen.length >= windows)
        const inside = seen.filter(({ endSample }) => endSample > voicedFrom && endSample <= voicedTo)
        expect(inside.filter(({ probability }) => probability > 0.5).length).toBeGreaterThan(0.8 * inside.length)
        const silent = yield* run(yield* make, 320, new Int16Array(16_000))
        yield* until(() => silent.length >= Math.floor(16_000 / windowSamples))
        expect(silent.every(({ probability }) => probability < 0.5)).toBe(true)
      }).pipe(Effect.scoped)
    )

    it.live("copies what it keeps", () =>
      Effect.gen(function* () {
        const activity = yield* make
        const whole = yield* run(activity, 320)
        const seen: Array<SeenWindow> = []
        const stream = yield* activity.open((probability, endSample) => seen.push({ probability, endSample }))
        const frame = new Int16Array(320)
        for (let at = 0; at < samples.length; at += 320) {
          const part = samples.subarray(at, at + 320)
          frame.set(part)
          stream.push(frame.subarray(0, part.length))
          frame.fill(12_345)
        }
        yield* until(() => seen.length >= windows && whole.length >= windows)
        for (const [i, { probability }] of seen.entries()) expect(probability).toBeCloseTo(whole[i]!.probability, 3)
      }).pipe(Effect.scoped)
    )

    it.live("keeps streams apart", () =>
      Effect.gen(function* () {
        const activity = yield* make
        const voiced: Array<number> = []
        const silent: Array<number> = []
        const first = yield* activity.open((probability) => voiced.push(probability))
        const second = yield* activity.open((probability) => silent.push(probability))
        for (let at = 0; at < samples.length; at += 320) {
          first.push(samples.slice(at, at + 320))
          second.push(new Int16Array(Math.min(320, samples.length - at)))
        }
        yield* until(() => voiced.length >= windows && silent.length >= windows)
        expect(Math.max(...voiced)).toBeGreaterThan(0.5)
        expect(Math.max(...silent)).toBeLessThan(0.5)
      }).pipe(Effect.scoped)
    )

    it.live("says nothing after its scope closed", () =>
      Effect.gen(function* () {
        const activity = yield* make
        let seen = 0
        const scope = yield* Scope.make()
        const stream = yield* Scope.provide(
          activity.open(() => seen++),
          scope
        )
        yield* Scope.close(scope, Exit.void)
        stream.push(samples)
        const witness = yield* run(activity, windowSamples, samples.slice(0, windowSamples))
        yield* until(() => witness.length === 1)
        expect(seen).toBe(0)
      }).pipe(Effect.scoped)
    )
  })
}
