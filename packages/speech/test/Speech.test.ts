import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { afterAll } from "vitest"
import { runtimeMissing } from "../src/sherpa/sherpaRuntime.ts"
import { Speech } from "../src/Speech.ts"
import type { SpeechSettings } from "../src/Speech.ts"
import { makeFakeOpenAiAudio } from "../src/testing/FakeOpenAiAudio.ts"
import { collect, phrase } from "./cases/synthesizerCases.ts"
import { transcriptLog, until } from "./cases/transcriberCases.ts"
import { encodeModel, floatType } from "../src/testing/OnnxWriter.ts"
import { offlineCtc, vits } from "../src/testing/toyModels.ts"

const root = mkdtempSync(join(tmpdir(), "speech-models-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const espeakInstalled = existsSync(new URL("../optional/espeak/node_modules", import.meta.url))

const lyingModel = {
  nodes: [],
  constants: [],
  inputs: [{ name: "x", type: floatType, dims: ["N"] }],
  outputs: [{ name: "y", type: floatType, dims: ["N"] }],
  metadata: { sample_rate: "nonsense", n_speakers: 1, comment: "piper", language: "en" }
}

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

  it.live("lives without a recogniser and says so", () =>
    Effect.gen(function* () {
      const speech = yield* Speech
      expect(yield* Effect.flip(speech.transcriber.open(transcriptLog().options))).toMatchObject({
        reason: "Unavailable"
      })
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

  it.live.skipIf(runtimeMissing() !== undefined)("speaks and hears with models of the user's own", () =>
    Effect.gen(function* () {
      const settings: SpeechSettings = {
        tts: ["sherpa"],
        asr: ["sherpa"],
        sherpaSpeech: { modelFolder: vits(root), threads: 1 },
        sherpaTranscription: { modelFolder: offlineCtc(root), threads: 1 }
      }
      yield* Effect.gen(function* () {
        const { health, synthesizer, transcriber, voices } = yield* Speech
        expect(voices.map((voice) => voice.id)).toEqual(["sherpa:0", "sherpa:1"])
        expect(synthesizer.clones).toBe(false)
        const { audio, sampleRate } = yield* collect(synthesizer.synthesize({ ...phrase, text: "hello world" }))
        expect(sampleRate).toBe(16_000)
        const { events, options } = transcriptLog()
        const stream = yield* transcriber.open(options)
        for (const { samples } of audio) stream.push(samples)
        stream.commit()
        yield* until(() => events.length > 0)
        expect(events[0]).toMatchObject({ _tag: "Final", text: "hello world" })
        expect(yield* health).toMatchObject({
          tts: [{ provider: "sherpa", label: "sherpa-onnx, vits", healthy: true }],
          asr: [{ provider: "sherpa", label: "sherpa-onnx, zipformerCtc", healthy: true }]
        })
      }).pipe(Effect.scoped, provided(settings))
    })
  )

  it.live.skipIf(runtimeMissing() !== undefined)(
    "starts without a model that is bad, says why, and serves with the next provider",
    () =>
      Effect.gen(function* () {
        const empty = join(root, "empty")
        mkdirSync(empty, { recursive: true })
        const cut = vits(join(root, "cut"))
        // Passes every check of ours: only the runtime finds out, and ends its process.
        writeFileSync(join(cut, "model.onnx"), encodeModel({ ...lyingModel }))
        const asr: SpeechSettings = { tts: [], asr: ["sherpa"], sherpaTranscription: { modelFolder: empty } }
        const { health } = yield* Effect.provide(Speech, Layer.fresh(Speech.layer(asr)))
        expect((yield* health).asr).toMatchObject([
          { provider: "sherpa", healthy: false, label: "sherpa-onnx: a file .onnx is missing" }
        ])
        yield* Effect.gen(function* () {
          const speech = yield* Speech
          const { sampleRate } = yield* collect(speech.synthesizer.synthesize({ ...phrase, voice: "slt" }))
          expect(sampleRate).toBe(16_000)
          const [sherpa] = (yield* speech.health).tts
          expect(sherpa).toMatchObject({ provider: "sherpa", healthy: false, lastError: "Unavailable" })
          expect(sherpa?.label).toContain("ended while it loaded the model")
        }).pipe(
          provided({ tts: ["sherpa", "flite"], asr: [], sherpaSpeech: { modelFolder: cut }, flite: { threads: 1 } })
        )
      })
  )

  it.live.skipIf(espeakInstalled)("serves without espeak-ng and says how to get it", () =>
    Effect.gen(function* () {
      const { health } = yield* Speech
      const [espeak] = (yield* health).tts
      expect(espeak).toMatchObject({ provider: "espeak", healthy: false })
      expect(espeak?.label).toContain("npm ci --prefix packages/speech/optional/espeak")
    }).pipe(provided({ tts: ["espeak"], asr: [] }))
  )

  it.effect("does not start with a provider that lacks its settings", () =>
    Effect.gen(function* () {
      for (const settings of [
        { tts: ["openai"], asr: [] },
        { tts: [], asr: ["openai"] },
        { tts: ["elevenlabs"], asr: [] },
        { tts: [], asr: ["elevenlabs"] },
        { tts: [], asr: ["deepgram"] },
        { tts: ["sherpa"], asr: [] },
        { tts: [], asr: ["sherpa"] }
      ] satisfies ReadonlyArray<SpeechSettings>) {
        const error = yield* Effect.flip(Effect.provide(Speech, Layer.fresh(Speech.layer(settings))))
        expect(error).toMatchObject({ reason: "BadRequest", provider: [...settings.tts, ...settings.asr][0] })
      }
    })
  )
})
