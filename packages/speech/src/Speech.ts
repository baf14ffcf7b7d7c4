// The room's one service: voice, ears and voice activity, made of the providers that the settings list, in that
// order. Building it is quick: threads and processes warm up behind it, and the first use waits for them.
import { Context, Effect, Layer } from "effect"
import type { Scope } from "effect"
import { makeFailoverSynthesizer } from "./failover/FailoverSynthesizer.ts"
import { makeFailoverTranscriber } from "./failover/FailoverTranscriber.ts"
import { Candidate, healthOf } from "./failover/ProviderHealth.ts"
import type { ProviderHealth } from "./failover/ProviderHealth.ts"
import { watchedVoiceActivity } from "./failover/WatchedVoiceActivity.ts"
import { makeFliteSynthesizer } from "./flite/FliteSynthesizer.ts"
import type { OpenAiEndpoint } from "./openai/OpenAiEndpoint.ts"
import { makeOpenAiSynthesizer } from "./openai/OpenAiSynthesizer.ts"
import type { OpenAiSpeechSettings } from "./openai/OpenAiSynthesizer.ts"
import { makeOpenAiTranscriber } from "./openai/OpenAiTranscriber.ts"
import { findPocketSphinx } from "./pocketsphinx/PocketSphinxInstallation.ts"
import { makePocketSphinxTranscriber } from "./pocketsphinx/PocketSphinxTranscriber.ts"
import { SpeechError } from "./ports/SpeechError.ts"
import type { Synthesizer, VoiceInfo } from "./ports/Synthesizer.ts"
import type { Transcriber } from "./ports/Transcriber.ts"
import type { VoiceActivity } from "./ports/VoiceActivity.ts"
import { makeSileroVoiceActivity } from "./silero/SileroVoiceActivity.ts"

export type SynthesizerName = "flite" | "openai"
export type TranscriberName = "pocketsphinx" | "openai"

export interface SpeechSettings {
  /** In order of preference. */
  readonly tts: ReadonlyArray<SynthesizerName>
  readonly asr: ReadonlyArray<TranscriberName>
  readonly flite?: { readonly threads?: number }
  readonly pocketSphinx?: { readonly poolSize?: number; readonly modelFolder?: string }
  /** Required when `tts` lists `openai`. */
  readonly openAiSpeech?: OpenAiSpeechSettings | undefined
  /** Required when `asr` lists `openai`. */
  readonly openAiTranscription?: OpenAiEndpoint | undefined
  /** How long a failed provider is put aside. Default 30 s. */
  readonly coolDownMs?: number
}

export interface SpeechHealth {
  readonly tts: ReadonlyArray<ProviderHealth>
  /** Configured recognisers; one that is not installed is listed as unhealthy. */
  readonly asr: ReadonlyArray<ProviderHealth>
  readonly vad: ReadonlyArray<ProviderHealth>
}

export class Speech extends Context.Service<
  Speech,
  {
    readonly synthesizer: Synthesizer
    /** Always there; without any usable provider each `open` fails with `Unavailable`. */
    readonly transcriber: Transcriber
    readonly voiceActivity: VoiceActivity
    /** Of all configured synthesizers. */
    readonly voices: ReadonlyArray<VoiceInfo>
    readonly health: Effect.Effect<SpeechHealth>
  }
>()("parley/speech/Speech") {
  /** Fails with `BadRequest` when a listed provider lacks its settings. */
  static readonly layer = (settings: SpeechSettings): Layer.Layer<Speech, SpeechError> =>
    Layer.effect(Speech, make(settings))
}

const make = Effect.fnUntraced(function* (settings: SpeechSettings) {
  const synthesizers = yield* Effect.forEach(settings.tts, (name) => synthesizerOf(name, settings))
  const transcribers = yield* Effect.forEach(settings.asr, (name) => transcriberOf(name, settings))
  const voiceActivity = yield* makeSileroVoiceActivity()
  const silero = new Candidate("silero", "Silero VAD v6", voiceActivity)
  const synthesizer = makeFailoverSynthesizer(synthesizers, settings.coolDownMs)
  return Speech.of({
    synthesizer,
    transcriber: makeFailoverTranscriber(transcribers, settings.coolDownMs),
    voiceActivity: watchedVoiceActivity(voiceActivity, silero),
    voices: synthesizer.voices,
    health: Effect.all({
      tts: healthOf(synthesizers),
      asr: healthOf(transcribers),
      vad: healthOf([silero])
    })
  })
})

const synthesizerOf = (
  name: SynthesizerName,
  settings: SpeechSettings
): Effect.Effect<Candidate<Synthesizer>, SpeechError, Scope.Scope> => {
  if (name === "flite") {
    const label = "Flite, embedded, English, demo quality"
    return Effect.map(makeFliteSynthesizer(settings.flite), (adapter) => new Candidate(name, label, adapter))
  }
  const { openAiSpeech } = settings
  if (openAiSpeech === undefined) return Effect.fail(unset("speech synthesis"))
  const label = `OpenAI-compatible, ${openAiSpeech.model}`
  return Effect.succeed(new Candidate(name, label, makeOpenAiSynthesizer(openAiSpeech)))
}

const transcriberOf = (
  name: TranscriberName,
  settings: SpeechSettings
): Effect.Effect<Candidate<Transcriber>, SpeechError, Scope.Scope> => {
  if (name === "pocketsphinx") {
    const { modelFolder, poolSize } = settings.pocketSphinx ?? {}
    const label = "PocketSphinx, embedded, English, demo quality"
    const installation = findPocketSphinx(modelFolder)
    if (installation === undefined) {
      return Effect.succeed(new Candidate<Transcriber>(name, label, undefined, "Unavailable"))
    }
    const options = { installation, ...(poolSize === undefined ? {} : { poolSize }) }
    return Effect.map(makePocketSphinxTranscriber(options), (adapter) => new Candidate(name, label, adapter))
  }
  const { openAiTranscription } = settings
  if (openAiTranscription === undefined) return Effect.fail(unset("speech recognition"))
  const label = `OpenAI-compatible, ${openAiTranscription.model}`
  return Effect.succeed(new Candidate(name, label, makeOpenAiTranscriber(openAiTranscription)))
}

const unset = (part: string): SpeechError =>
  new SpeechError({
    reason: "BadRequest",
    provider: "openai",
    message: `openai is listed for ${part}, but its base URL and model are not set`
  })
