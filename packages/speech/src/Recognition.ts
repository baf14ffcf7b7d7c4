// The use case behind every door that listens to a recording: file -> samples -> utterances -> text and word times.
// Utterances are found by voice activity and go through the same transcribers that live calls use; a recording is
// never whole in memory, and pauses cost no recogniser time.
import { Context, type Effect } from "effect"
import type { SpeechError } from "./ports/SpeechError.ts"
import type { SpokenWord } from "./ports/Transcriber.ts"
import type { AudioFault } from "./upload/UploadedAudio.ts"

export interface RecognitionRequest {
  /** Path of the uploaded file, container as it came. */
  readonly file: string
  /** ISO 639-1 hint; `""` for none. */
  readonly language: string
  readonly keyterms: ReadonlyArray<string>
}

export interface Recognised {
  /** Empty when nothing was said. */
  readonly text: string
  /** The whole recording, silence included. */
  readonly durationMs: number
  /** Times from the recording's first sample. */
  readonly words: ReadonlyArray<SpokenWord>
  /** ISO 639-1, where the recogniser tells it. */
  readonly language: string | undefined
}

export class Recognition extends Context.Service<
  Recognition,
  {
    /** Fails with `TooShort` below 0.08 s and `TooLong` above 60 minutes. Interruption stops the recogniser. */
    readonly recognise: (request: RecognitionRequest) => Effect.Effect<Recognised, AudioFault | SpeechError>
  }
>()("parley/speech/Recognition") {}
