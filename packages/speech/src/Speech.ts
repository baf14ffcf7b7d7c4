// The room's one service: voice, ears and voice activity, made of the providers that the settings list, in that
// order. Building it is quick: threads and processes warm up behind it, and the first use waits for them.
import { Context, Effect, Layer } from "effect"
import { makeFailoverSynthesizer } from "./failover/FailoverSynthesizer.ts"
import { makeFailoverTranscriber } from "./failover/FailoverTranscriber.ts"
import { Candidate, healthOf } from "./failover/ProviderHealth.ts"
import type { ProviderHealth } from "./failover/ProviderHealth.ts"
import { watchedVoiceActivity } from "./failover/WatchedVoiceActivity.ts"
import type { SpeechError } from "./ports/SpeechError.ts"
import type { Synthesizer, VoiceInfo } from "./ports/Synthesizer.ts"
import type { Transcriber } from "./ports/Transcriber.ts"
import type { VoiceActivity } from "./ports/VoiceActivity.ts"
import { synthesizerOf, transcriberOf } from "./Providers.ts"
import type { ProviderSettings, SynthesizerName, TranscriberName } from "./Providers.ts"
import { makeSileroVoiceActivity } from "./silero/SileroVoiceActivity.ts"

export interface SpeechSettings extends ProviderSettings {
  /** In order of preference. */
  readonly tts: ReadonlyArray<SynthesizerName>
  readonly asr: ReadonlyArray<TranscriberName>
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
>()("@parley/speech/Speech") {
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
