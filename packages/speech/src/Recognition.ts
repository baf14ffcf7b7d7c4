// The use case behind every door that listens to a recording: file -> samples -> utterances -> text and word times.
// Utterances are found by voice activity and go through the same transcribers that live calls use; a recording is
// never whole in memory, and pauses cost no recogniser time.
import { Context, Effect, Layer } from "effect"
import type { SpeechError } from "./ports/SpeechError.ts"
import type { SpokenWord } from "./ports/Transcriber.ts"
import { makeRecognition } from "./recognition/Recogniser.ts"
import type { Speech } from "./Speech.ts"
import type { AudioFault, UploadedAudio } from "./upload/UploadedAudio.ts"

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

export interface RecognitionOptions {
  readonly atOnce?: number | undefined
  /** Beyond this many waiting ones a recognition fails with `Overloaded`. Default 8. */
  readonly mostWaiting?: number | undefined
}

export class Recognition extends Context.Service<
  Recognition,
  {
    /** Fails with `TooShort` below 0.08 s, `TooLong` above 60 minutes, `Overloaded` and the rest of the ports. Interruption stops the recogniser. */
    readonly recognise: (request: RecognitionRequest) => Effect.Effect<Recognised, AudioFault | SpeechError>
  }
>()("@parley/speech/Recognition") {
  /** `atOnce` recognitions at a time (default 2), so that live calls keep their recognisers; 8 more may wait. */
  static readonly layer = (options: RecognitionOptions = {}): Layer.Layer<Recognition, never, Speech | UploadedAudio> =>
    Layer.effect(
      Recognition,
      Effect.map(makeRecognition(options), (recognise) => Recognition.of({ recognise }))
    )
}
