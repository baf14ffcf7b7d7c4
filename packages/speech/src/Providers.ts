// The providers by name, made from the settings. One that is configured and not there, for want of a model or a
// library, is a candidate without an adapter: the service starts without it and health says why.
import { existsSync } from "node:fs"
import { Effect, Result } from "effect"
import type { Scope } from "effect"
import { makeDeepgramTranscriber } from "./deepgram/DeepgramTranscriber.ts"
import type { DeepgramSettings } from "./deepgram/DeepgramTranscriber.ts"
import type { ElevenLabsSpeechSettings } from "./elevenlabs/ElevenLabsSynthesizer.ts"
import { makeElevenLabsSynthesizer } from "./elevenlabs/ElevenLabsSynthesizer.ts"
import { makeElevenLabsTranscriber } from "./elevenlabs/ElevenLabsTranscriber.ts"
import type { ElevenLabsSettings } from "./elevenlabs/ElevenLabsTranscriber.ts"
import { Candidate } from "./failover/ProviderHealth.ts"
import { makeFliteSynthesizer } from "./flite/FliteSynthesizer.ts"
import type { OpenAiEndpoint } from "./openai/OpenAiEndpoint.ts"
import { makeOpenAiSynthesizer } from "./openai/OpenAiSynthesizer.ts"
import type { OpenAiSpeechSettings } from "./openai/OpenAiSynthesizer.ts"
import { makeOpenAiTranscriber } from "./openai/OpenAiTranscriber.ts"
import { findPocketSphinx } from "./pocketsphinx/PocketSphinxInstallation.ts"
import { makePocketSphinxTranscriber } from "./pocketsphinx/PocketSphinxTranscriber.ts"
import { SpeechError } from "./ports/SpeechError.ts"
import type { Synthesizer } from "./ports/Synthesizer.ts"
import type { Transcriber } from "./ports/Transcriber.ts"
import { readRecognitionModel } from "./sherpa/RecognitionModel.ts"
import { makeSherpaSynthesizer } from "./sherpa/SherpaSynthesizer.ts"
import type { SherpaOptions } from "./sherpa/sherpaProcess.ts"
import { makeSherpaTranscriber } from "./sherpa/SherpaTranscriber.ts"
import type { SherpaRecognitionOptions } from "./sherpa/SherpaTranscriber.ts"
import { runtimeMissing } from "./sherpa/sherpaRuntime.ts"
import { readSynthesisModel } from "./sherpa/SynthesisModel.ts"

export type SynthesizerName = "flite" | "sherpa" | "espeak" | "openai" | "elevenlabs"
export type TranscriberName = "pocketsphinx" | "sherpa" | "openai" | "elevenlabs" | "deepgram"

/** Path of a folder with a sherpa-onnx model as it was unpacked. */
export interface ModelFolderSetting {
  readonly modelFolder: string
}

/** What a listed provider needs is required; the rest is ignored. */
export interface ProviderSettings {
  readonly flite?: { readonly threads?: number }
  readonly pocketSphinx?: { readonly poolSize?: number; readonly modelFolder?: string }
  readonly sherpaSpeech?: (ModelFolderSetting & SherpaOptions) | undefined
  readonly sherpaTranscription?: (ModelFolderSetting & SherpaRecognitionOptions) | undefined
  readonly openAiSpeech?: OpenAiSpeechSettings | undefined
  readonly openAiTranscription?: OpenAiEndpoint | undefined
  readonly elevenLabsSpeech?: ElevenLabsSpeechSettings | undefined
  readonly elevenLabsTranscription?: ElevenLabsSettings | undefined
  readonly deepgram?: DeepgramSettings | undefined
}

type Made<A> = Effect.Effect<Candidate<A>, SpeechError, Scope.Scope>

/** Fails with `BadRequest` without the settings it needs. */
export const synthesizerOf = (name: SynthesizerName, settings: ProviderSettings): Made<Synthesizer> => {
  switch (name) {
    case "flite": {
      const label = "Flite, embedded, English, demo quality"
      return Effect.map(makeFliteSynthesizer(settings.flite), (adapter) => new Candidate(name, label, adapter))
    }
    case "sherpa":
      return given(name, settings.sherpaSpeech, (sherpa) => {
        const missing = runtimeMissing()
        if (missing !== undefined) return Effect.succeed(notThere<Synthesizer>(name, missing))
        const model = readSynthesisModel(sherpa.modelFolder)
        if (Result.isFailure(model)) return Effect.succeed(notThere<Synthesizer>(name, model.failure.message))
        const label = `sherpa-onnx, ${model.success.kind}`
        return Effect.map(
          makeSherpaSynthesizer(model.success, sherpa),
          (adapter) => new Candidate<Synthesizer>(name, label, adapter, undefined, adapter.fault)
        )
      })
    case "espeak":
      return espeakOf(name)
    case "openai":
      return given(name, settings.openAiSpeech, (openAi) =>
        remote(name, `OpenAI-compatible, ${openAi.model}`, makeOpenAiSynthesizer(openAi))
      )
    case "elevenlabs":
      return given(name, settings.elevenLabsSpeech, (socket) =>
        remote(name, `ElevenLabs-compatible socket, ${socket.model}`, makeElevenLabsSynthesizer(socket))
      )
  }
}

/** Fails with `BadRequest` without the settings it needs. */
export const transcriberOf = (name: TranscriberName, settings: ProviderSettings): Made<Transcriber> => {
  switch (name) {
    case "pocketsphinx": {
      const { modelFolder, poolSize } = settings.pocketSphinx ?? {}
      const label = "PocketSphinx, embedded, English, demo quality"
      const installation = findPocketSphinx(modelFolder)
      if (installation === undefined) {
        return Effect.succeed(new Candidate<Transcriber>(name, label, undefined, "Unavailable"))
      }
      const options = { installation, ...(poolSize === undefined ? {} : { poolSize }) }
      return Effect.map(makePocketSphinxTranscriber(options), (adapter) => new Candidate(name, label, adapter))
    }
    case "sherpa":
      return given(name, settings.sherpaTranscription, (sherpa) => {
        const missing = runtimeMissing()
        if (missing !== undefined) return Effect.succeed(notThere<Transcriber>(name, missing))
        const model = readRecognitionModel(sherpa.modelFolder)
        if (Result.isFailure(model)) return Effect.succeed(notThere<Transcriber>(name, model.failure.message))
        const { kind, streaming } = model.success
        const label = `sherpa-onnx, ${kind}${streaming ? ", streaming" : ""}`
        return Effect.map(
          makeSherpaTranscriber(model.success, sherpa),
          (adapter) => new Candidate<Transcriber>(name, label, adapter, undefined, adapter.fault)
        )
      })
    case "openai":
      return given(name, settings.openAiTranscription, (openAi) =>
        remote(name, `OpenAI-compatible, ${openAi.model}`, makeOpenAiTranscriber(openAi))
      )
    case "elevenlabs":
      return given(name, settings.elevenLabsTranscription, (socket) =>
        remote(name, `ElevenLabs-compatible socket, ${socket.model}`, makeElevenLabsTranscriber(socket))
      )
    case "deepgram":
      return given(name, settings.deepgram, (deepgram) =>
        remote(name, `Deepgram, ${deepgram.model}`, makeDeepgramTranscriber(deepgram))
      )
  }
}

/** GPL-3.0: neither its library nor its adapter is in the default install, and only this line reaches for them. */
const espeakOf = (name: string): Made<Synthesizer> => {
  const label = "espeak-ng, robotic, about 120 languages"
  const folder = new URL("../optional/espeak/", import.meta.url)
  const adapter = new URL("EspeakSynthesizer.ts", folder)
  if (!existsSync(new URL("node_modules/@echogarden/espeak-ng-emscripten/package.json", folder))) {
    const why = `${label}: not installed: npm ci --prefix packages/speech/optional/espeak`
    return Effect.succeed(new Candidate<Synthesizer>(name, why, undefined, "Unavailable"))
  }
  return Effect.promise(() => import(adapter.href) as Promise<EspeakModule>).pipe(
    Effect.flatMap((espeak) => espeak.makeEspeakSynthesizer),
    Effect.map((synthesizer) => new Candidate<Synthesizer>(name, label, synthesizer)),
    Effect.catch((error) => Effect.succeed(new Candidate<Synthesizer>(name, label, undefined, error.reason)))
  )
}

interface EspeakModule {
  readonly makeEspeakSynthesizer: Effect.Effect<Synthesizer, SpeechError, Scope.Scope>
}

const remote = <A>(name: string, label: string, adapter: A): Made<A> =>
  Effect.succeed(new Candidate(name, label, adapter))

const given = <S, A>(name: string, settings: S | undefined, make: (settings: S) => Made<A>): Made<A> =>
  settings === undefined
    ? Effect.fail(
        new SpeechError({
          reason: "BadRequest",
          provider: name,
          message: `${name} is listed, but what it needs is not set`
        })
      )
    : make(settings)

const notThere = <A>(name: string, why: string): Candidate<A> =>
  new Candidate<A>(name, `sherpa-onnx: ${why}`, undefined, "Unavailable")
