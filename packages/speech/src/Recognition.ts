// The use case of every API that takes a recording: file -> samples -> utterances -> text and word times.
// Utterances are found by voice activity and go through the same transcribers that live calls use; a recording is
// never whole in memory, and pauses cost no recogniser time.
import { Context, Effect, Layer } from "effect"
import type { SpeechError } from "./ports/SpeechError.ts"
import { makeRecognition } from "./recognition/Recogniser.ts"
import type { Recognised, RecognitionOptions, RecognitionRequest } from "./recognition/RecognitionRequest.ts"
import type { Speech } from "./Speech.ts"
import type { AudioFault, UploadedAudio } from "./upload/UploadedAudio.ts"

export type { Recognised, RecognitionOptions, RecognitionRequest } from "./recognition/RecognitionRequest.ts"

/** A recording to text. */
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
