import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Speech } from "../src/Speech.ts"
import type { SpeechSettings } from "../src/Speech.ts"
import { makeFakeOpenAiAudio } from "../src/testing/FakeOpenAiAudio.ts"
import { collect, phrase } from "./cases/synthesizerCases.ts"
import { hearing, until } from "./cases/transcriberCases.ts"

const provided =
  (settings: SpeechSettings) =>
  <A, E>(effect: Effect.Effect<A, E, Speech>) =>
    Effect.provide(effect, Layer.fresh(Speech.layer(settings)))

describe("Speech", () => {
  it.live("speaks with the embedded voice when the first provider is dead, and says so", () =>
    Effect.gen(function* () {
      const fake = yield* makeFakeOpenAiAudio()
      fake.behave("dead", "dead")
      const endpoint = { baseUrl: fake.baseUrl, model: "voice-1" }
      yield* Effect.gen(function* () {
        const speech = yield* Speech
        expect(speech.synthesizer.provider).toBe("openai")
        const { sampleRate } = yield* collect(speech.synthesizer.synthesize({ ...phrase, voice: "slt" }))
        expect(sampleRate).toBe(16_000)
        expect(speech.synthesizer.provider).toBe("flite")
        expect((yield* speech.health).tts).toMatchObject([
          { provider: "openai", healthy: false, lastError: "Unavailable" },
          { provider: "flite", healthy: true }
        ])
        expect(speech.voices.map((voice) => voice.id)).toEqual(["slt", "rms", "awb", "kal16"])
      }).pipe(provided({ tts: ["openai", "flite"], asr: [], flite: { threads: 1 }, openAiSpeech: endpoint }))
    })
  )

  it.live("lives without ears and says so", () =>
    Effect.gen(function* () {
      const speech = yield* Speech
      expect(yield* Effect.flip(speech.transcriber.open(hearing().options))).toMatchObject({ reason: "Unavailable" })
      expect((yield* speech.health).asr).toEqual([
        {
          provider: "pocketsphinx",
          label: "PocketSphinx, embedded, English, demo quality",
          healthy: false,
          lastError: "Unavailable"
        }
      ])
      let windows = 0
      const stream = yield* speech.voiceActivity.open(() => windows++)
      stream.push(new Int16Array(1024))
      yield* until(() => windows === 2)
      expect((yield* speech.health).vad).toMatchObject([{ provider: "silero", healthy: true }])
    }).pipe(
      Effect.scoped,
      provided({
        tts: ["flite"],
        asr: ["pocketsphinx"],
        pocketSphinx: { modelFolder: "/nonexistent" },
        flite: { threads: 1 }
      })
    )
  )

  it.effect("does not start with a provider that lacks its settings", () =>
    Effect.gen(function* () {
      for (const settings of [
        { tts: ["openai"], asr: [] },
        { tts: [], asr: ["openai"] }
      ] satisfies ReadonlyArray<SpeechSettings>) {
        const error = yield* Effect.flip(Effect.provide(Speech, Layer.fresh(Speech.layer(settings))))
        expect(error).toMatchObject({ reason: "BadRequest", provider: "openai" })
      }
    })
  )
})
