// What every adapter of the synthesizer port promises. An adapter hands in a maker; a case it cannot meet is
// named with its reason.
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import type { Scope } from "effect"
import type { SpeechChunk, SynthesisRequest, Synthesizer } from "../../src/ports/Synthesizer.ts"

type CaseName = "words" | "speed"

export const phrase: SynthesisRequest = {
  text: "Good morning, what can I do for you?",
  voice: "",
  speed: 1,
  language: "en",
  urgent: true
}

export const collect = (stream: ReturnType<Synthesizer["synthesize"]>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => {
    const audio = chunks.filter((chunk) => chunk._tag === "Audio")
    const words = chunks.findLast((chunk) => chunk._tag === "Words")?.words ?? []
    const samples = audio.reduce((sum, chunk) => sum + chunk.samples.length, 0)
    const sampleRate = audio[0]?.sampleRate ?? 0
    return {
      chunks: [...chunks] as ReadonlyArray<SpeechChunk>,
      audio,
      words,
      sampleRate,
      ms: (samples * 1000) / sampleRate
    }
  })

export const synthesizerCases = (
  name: string,
  make: Effect.Effect<Synthesizer, never, Scope.Scope>,
  skips: Partial<Record<CaseName, string>> = {}
): void => {
  const caseOf = (id: CaseName, title: string, body: () => Effect.Effect<void, unknown, Scope.Scope>) =>
    skips[id] === undefined ? it.live(title, body) : it.skip(`${title} (${skips[id]})`, () => {})

  describe(`synthesizer port: ${name}`, () => {
    it.live("gives audible mono PCM of one rate, in pieces", () =>
      Effect.gen(function* () {
        const synthesizer = yield* make
        const { audio, ms, sampleRate } = yield* collect(synthesizer.synthesize(phrase))
        expect(audio.length).toBeGreaterThan(1)
        expect(audio.every((chunk) => chunk.sampleRate === sampleRate && chunk.samples.length > 0)).toBe(true)
        expect([8000, 16000, 22050, 24000, 32000, 44100, 48000]).toContain(sampleRate)
        expect(ms).toBeGreaterThan(500)
        expect(audio.some((chunk) => chunk.samples.some((sample) => Math.abs(sample) > 1000))).toBe(true)
      })
    )

    it.live("speaks several phrases at once and one after another", () =>
      Effect.gen(function* () {
        const synthesizer = yield* make
        const all = yield* Effect.all(
          Array.from({ length: 5 }, () => collect(synthesizer.synthesize(phrase))),
          { concurrency: 3 }
        )
        for (const one of all) expect(one.ms).toBe(all[0]?.ms)
      })
    )

    it.live("serves a voice it does not know with its default voice", () =>
      Effect.gen(function* () {
        const synthesizer = yield* make
        expect((yield* collect(synthesizer.synthesize({ ...phrase, voice: "no-such-voice" }))).ms).toBeGreaterThan(500)
      })
    )

    it.live("can be interrupted at any time and serves on", () =>
      Effect.gen(function* () {
        const synthesizer = yield* make
        for (const ms of [0, 1, 3, 10]) {
          const fiber = yield* Effect.forkChild(Stream.runDrain(synthesizer.synthesize(phrase)))
          yield* Effect.sleep(ms)
          yield* Fiber.interrupt(fiber)
        }
        expect((yield* collect(synthesizer.synthesize(phrase))).ms).toBeGreaterThan(500)
      })
    )

    caseOf("words", "times every word inside the audio, in order, pointing into the text", () =>
      Effect.gen(function* () {
        const synthesizer = yield* make
        const { ms, words } = yield* collect(synthesizer.synthesize(phrase))
        expect(words.map((word) => word.text)).toEqual(phrase.text.split(" "))
        let before = 0
        for (const word of words) {
          expect(phrase.text.slice(word.from, word.to)).toBe(word.text)
          expect(word.startMs).toBeGreaterThanOrEqual(before)
          expect(word.endMs).toBeGreaterThan(word.startMs)
          expect(word.endMs).toBeLessThanOrEqual(ms + 1)
          before = word.startMs
        }
      })
    )

    caseOf("speed", "speaks faster and slower", () =>
      Effect.gen(function* () {
        const synthesizer = yield* make
        const length = (speed: number) =>
          Effect.map(collect(synthesizer.synthesize({ ...phrase, speed })), ({ ms }) => ms)
        const [fast, plain, slow] = [yield* length(2), yield* length(1), yield* length(0.5)]
        expect(fast / plain).toBeGreaterThan(0.35)
        expect(fast / plain).toBeLessThan(0.65)
        expect(slow / plain).toBeGreaterThan(1.5)
        expect(slow / plain).toBeLessThan(2.5)
      })
    )
  })
}
