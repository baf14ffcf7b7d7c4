// The whole way with nothing faked: text, the embedded engine, an encoder, PCM.
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { findPocketSphinx } from "../../src/pocketsphinx/PocketSphinxInstallation.ts"
import { EncoderPool } from "../../src/encoding/EncoderPool.ts"
import { Speech } from "../../src/Speech.ts"
import { Synthesis } from "../../src/Synthesis.ts"
import type { SynthesisEvent, SynthesisSettings } from "../../src/Synthesis.ts"
import { finals, transcriptLog, pushAll, until } from "../cases/transcriberCases.ts"

const settings: SynthesisSettings = {
  voices: [{ id: "rms" }],
  language: "",
  format: { codec: "pcm", sampleRate: 16000 },
  speed: 1,
  volumeDb: 0,
  normalizeLoudness: true,
  normalize: true,
  latency: "balanced",
  chunkLength: 200,
  minChunkLength: 50,
  cues: "none",
  timing: true,
  extra: {}
}

const house = Synthesis.layer.pipe(
  Layer.provide(EncoderPool.layer({})),
  Layer.provideMerge(Speech.layer({ tts: ["flite"], asr: ["pocketsphinx"], flite: { threads: 1 } }))
)

const speak = (text: string) =>
  Effect.gen(function* () {
    const { speak } = yield* Synthesis
    return [...(yield* Stream.runCollect(speak(settings, Stream.make({ _tag: "Text", text }))))]
  })

const pcmOf = (events: ReadonlyArray<SynthesisEvent>): Int16Array => {
  const bytes = Buffer.concat(events.flatMap((event) => (event._tag === "Audio" ? [event.bytes] : [])))
  return new Int16Array(new Uint8Array(bytes).buffer)
}

describe("Synthesis with the embedded voice", () => {
  it.layer(house, { excludeTestServices: true })((it) => {
    it.effect("times each written word, where its sound is, in the caller's own text", () =>
      Effect.gen(function* () {
        const text = "Your order 4711 costs $3.50, Dr. Smith. It arrives on May 3, 2025 — really!"
        const events = yield* speak(text)
        const chunks = new Map<number, Extract<SynthesisEvent, { readonly _tag: "Timing" }>>()
        for (const event of events) if (event._tag === "Timing") chunks.set(event.chunk, event)
        const all = [...chunks.values()]
        expect(all.map(({ content }) => content).join("")).toBe(text)
        expect(all.flatMap(({ words }) => words.map((word) => word.text))).toEqual(
          text.split(" ").filter((word) => word !== "—")
        )
        const samples = pcmOf(events)
        const totalMs = samples.length / 16
        const last = all.at(-1)!
        expect(Math.abs(last.offsetMs + last.durationMs - totalMs)).toBeLessThan(5)
        for (const { offsetMs, words } of all) {
          for (const { endMs, startMs } of words.filter(({ exact }) => exact)) {
            const from = Math.floor((offsetMs + startMs) * 16)
            const to = Math.ceil((offsetMs + endMs) * 16)
            expect(samples.subarray(from, to).some((sample) => Math.abs(sample) > 500)).toBe(true)
          }
        }
      })
    )

    it.effect("fails for a language that the engine does not speak", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(speak("Das Wetter ist heute schön, und wir gehen in den Park."))
        expect(error.reason).toBe("LanguageNotSupported")
      })
    )

    it.effect.skipIf(findPocketSphinx() === undefined)(
      "is understood, numbers and dates too",
      () =>
        Effect.gen(function* () {
          const samples = pcmOf(yield* speak("The meeting starts at 9:00 on May 3. Please bring 12 green books."))
          const { transcriber } = yield* Speech
          const { events, options } = transcriptLog()
          const stream = yield* transcriber.open(options)
          pushAll(stream, samples)
          pushAll(stream, new Int16Array(8000))
          stream.commit()
          yield* until(() => finals(events).length === 1, 30_000)
          const heard = finals(events)[0]?.text.toLowerCase() ?? ""
          const expected = "meeting starts nine may third please bring twelve green books".split(" ")
          expect(expected.filter((word) => heard.includes(word)).length).toBeGreaterThanOrEqual(6)
        }).pipe(Effect.scoped),
      60_000
    )
  })
})
