import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Context } from "effect"
import { makeFliteSynthesizer } from "../../src/flite/FliteSynthesizer.ts"
import type { Synthesizer } from "../../src/ports/Synthesizer.ts"
import { collect, phrase, synthesizerCases } from "../cases/synthesizerCases.ts"

synthesizerCases("flite", makeFliteSynthesizer({ threads: 1 }))

class Flite extends Context.Service<Flite, Synthesizer>()("test/Flite") {}

describe("FliteSynthesizer", () => {
  it.layer(Layer.effect(Flite, makeFliteSynthesizer({ threads: 1 })))((it) => {
    it.effect("starts with the voice, not with silence", () =>
      Effect.gen(function* () {
        const flite = yield* Flite
        for (const voice of flite.voices) {
          const { audio, ms, words } = yield* collect(flite.synthesize({ ...phrase, voice: voice.id }))
          const first = audio[0]?.samples ?? new Int16Array(0)
          expect(first.findIndex((sample) => Math.abs(sample) > 200)).toBeLessThan(16 * 60)
          expect(words[0]?.startMs).toBeLessThan(40)
          expect(ms - (words.at(-1)?.endMs ?? 0)).toBeLessThan(120)
        }
      })
    )

    it.effect("aligns every word by its phones, numbers and abbreviations too", () =>
      Effect.gen(function* () {
        const flite = yield* Flite
        const text = "Dr. O'Neill isn't in before 5:30pm — it's $3.50 for the well-known café on 555-1234."
        const { words } = yield* collect(flite.synthesize({ ...phrase, text }))
        expect(words.map((word) => word.text).join(" ")).toBe(text.replace(" —", ""))
        expect(words.filter((word) => !word.exact)).toEqual([])
      })
    )

    it.effect("speaks long text in pieces with one timeline", () =>
      Effect.gen(function* () {
        const flite = yield* Flite
        const text = "The meeting starts at nine and ends before noon. ".repeat(9).trim()
        const { chunks, ms, words } = yield* collect(flite.synthesize({ ...phrase, text, voice: "kal16" }))
        expect(words).toHaveLength(text.split(" ").length)
        expect(words.every((word, i) => i === 0 || word.startMs >= (words[i - 1]?.startMs ?? 0))).toBe(true)
        expect(ms - (words.at(-1)?.endMs ?? 0)).toBeLessThan(120)
        expect(chunks.findIndex((chunk) => chunk._tag === "Words")).toBeLessThan(chunks.length - 1)
      })
    )

    it.effect("never takes text for a file name", () =>
      Effect.gen(function* () {
        const flite = yield* Flite
        const { ms } = yield* collect(flite.synthesize({ ...phrase, text: "/etc/hostname" }))
        expect(ms).toBeGreaterThan(500)
      })
    )

    it.effect.each([
      { text: "Bonjour tout le monde", language: "fr" },
      { text: "你好世界", language: "en" },
      { text: "…", language: "en" }
    ])("refuses what it cannot say: %o", ({ language, text }) =>
      Effect.gen(function* () {
        const flite = yield* Flite
        const error = yield* Effect.flip(collect(flite.synthesize({ ...phrase, text, language })))
        expect(error.reason).toBe("LanguageNotSupported")
      })
    )
  })
})
