// SPDX-License-Identifier: GPL-3.0-only
// By hand, where espeak-ng is installed: `npm test` in this folder.
import assert from "node:assert/strict"
import { test } from "node:test"
import { Effect, Fiber, Stream } from "effect"
import type { SynthesisRequest, Synthesizer } from "../../src/ports/Synthesizer.ts"
import { makeEspeakSynthesizer } from "./EspeakSynthesizer.ts"

const phrase: SynthesisRequest = {
  text: "Good morning, what can I do for you?",
  voice: "",
  speed: 1,
  language: "en",
  urgent: true
}

const withEspeak = <A>(body: (synthesizer: Synthesizer) => Effect.Effect<A, unknown>): Promise<A> =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(makeEspeakSynthesizer, body)))

const speak = (synthesizer: Synthesizer, request: Partial<SynthesisRequest> = {}) =>
  Effect.map(Stream.runCollect(synthesizer.synthesize({ ...phrase, ...request })), (chunks) => {
    const audio = chunks.filter((chunk) => chunk._tag === "Audio")
    const samples = audio.reduce((sum, chunk) => sum + chunk.samples.length, 0)
    return {
      ms: (samples * 1000) / (audio[0]?.sampleRate ?? 1),
      pieces: audio.length,
      words: chunks.findLast((chunk) => chunk._tag === "Words")?.words ?? []
    }
  })

test("speaks in pieces, with exact word times that point into the text", () =>
  withEspeak((synthesizer) =>
    Effect.gen(function* () {
      assert.ok(synthesizer.voices.length > 100)
      const { ms, pieces, words } = yield* speak(synthesizer)
      assert.ok(ms > 1000 && pieces > 5)
      assert.deepEqual(
        words.map((word) => word.text),
        phrase.text.split(" ")
      )
      let before = -1
      for (const word of words) {
        assert.equal(phrase.text.slice(word.from, word.to), word.text)
        assert.ok(word.exact && word.startMs > before && word.endMs > word.startMs && word.endMs <= ms + 1)
        before = word.startMs
      }
    })
  ))

test("speaks faster and slower, other languages, and counts characters beyond the plane", () =>
  withEspeak((synthesizer) =>
    Effect.gen(function* () {
      const plain = yield* speak(synthesizer)
      assert.ok((yield* speak(synthesizer, { speed: 2 })).ms < 0.65 * plain.ms)
      assert.ok((yield* speak(synthesizer, { speed: 0.5 })).ms > 1.5 * plain.ms)
      const german = yield* speak(synthesizer, { language: "de-AT", text: "Schöne Grüße aus Köln." })
      assert.deepEqual(
        german.words.map((word) => word.text),
        ["Schöne", "Grüße", "aus", "Köln."]
      )
      assert.ok(german.words.every((word) => word.exact))
      const error = yield* Effect.flip(speak(synthesizer, { language: "zz" }))
      assert.equal((error as { reason?: string }).reason, "LanguageNotSupported")
    })
  ))

test("stops when interrupted and serves on", () =>
  withEspeak((synthesizer) =>
    Effect.gen(function* () {
      const long = { ...phrase, text: "And so on. ".repeat(500) }
      for (const ms of [0, 5, 50]) {
        const fiber = yield* Effect.forkChild(Stream.runDrain(synthesizer.synthesize(long)))
        yield* Effect.sleep(ms)
        yield* Fiber.interrupt(fiber)
      }
      const all = yield* Effect.all(
        [1, 2, 3].map(() => speak(synthesizer)),
        { concurrency: 3 }
      )
      // The engine varies a pause by a few samples.
      assert.ok(all.every((one) => one.ms > 1000 && Math.abs(one.ms - (all[0]?.ms ?? 0)) < 50))
    })
  ))
