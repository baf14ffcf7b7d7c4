// The port of text to speech: one phrase in, a stream of audio and word times out.
// Interrupting the stream stops the provider's work at once.
import type { Stream } from "effect"
import type { SpeechError } from "./SpeechError.ts"
import type { VoiceCharacter } from "./VoiceCharacter.ts"

/** One phrase to be spoken. */
export interface SynthesisRequest {
  /** One phrase or sentence, already normalised for speaking. Never empty. */
  readonly text: string
  /** Provider voice name; `""` or `default` for the provider's own default. */
  readonly voice: string
  /** Speak like this where the engine can; `voice` is then only a preference. */
  readonly character?: VoiceCharacter | undefined
  /** 0.5 to 2; 1 is the voice's own pace. */
  readonly speed: number
  /** ISO 639-1. */
  readonly language: string
  /** First phrases of a reply go before later ones in a queue. */
  readonly urgent: boolean
  /** False where nobody wants word times and leaving them out saves work. Default true. */
  readonly words?: boolean
  /** Sampling temperature and the like, for engines that have such a notion. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** When a word of the request sounds. */
export interface WordTime {
  readonly text: string
  /** Character range in `SynthesisRequest.text`, end exclusive. */
  readonly from: number
  readonly to: number
  /** Milliseconds from the first sample of this phrase. */
  readonly startMs: number
  readonly endMs: number
  /** False where the engine gives no alignment and the time is interpolated. */
  readonly exact: boolean
}

export type SpeechChunk =
  | { readonly _tag: "Audio"; readonly samples: Int16Array; readonly sampleRate: number }
  /** Replaces any `Words` sent before for this phrase; may come after the audio. */
  | { readonly _tag: "Words"; readonly words: ReadonlyArray<WordTime> }

/** A voice of a provider; `language` as ISO 639-1, empty for any. */
export interface VoiceInfo {
  readonly id: string
  readonly name: string
  readonly language: string
}

/** The port of text to speech. */
export interface Synthesizer {
  /** Provider id as in settings and `/health`: `flite`, `openai`. */
  readonly provider: string
  readonly voices: ReadonlyArray<VoiceInfo>
  /** Whether it speaks like a character's references, beyond bending a voice towards its profile. Default false. */
  readonly clones?: boolean
  /** Mono 16-bit PCM as it is made. Fails with `InvalidOutput` when the provider answers without audio. */
  readonly synthesize: (request: SynthesisRequest) => Stream.Stream<SpeechChunk, SpeechError>
}
