// The speech half of the service, made from the engines: the use cases, and the desks before which every door stands.
import { Recognition } from "@parley/speech/Recognition"
import { SoundLines } from "@parley/speech/sound/SoundLines"
import { Synthesis } from "@parley/speech/Synthesis"
import { UploadedAudio } from "@parley/speech/upload/UploadedAudio"
import { VoiceTraining } from "@parley/workspace/VoiceTraining"
import { Effect, Layer } from "effect"
import { InlineVoices } from "./desk/speech/InlineVoices.ts"
import { LiveRecognition } from "./desk/speech/LiveRecognition.ts"
import { RecognitionDesk } from "./desk/speech/RecognitionDesk.ts"
import { SpeechDesk } from "./desk/speech/SpeechDesk.ts"
import { SpeechSeats } from "./desk/speech/SpeechSeats.ts"
import { VoiceChoice } from "./desk/speech/VoiceChoice.ts"
import { VoiceDesigner } from "./desk/speech/VoiceDesigner.ts"
import { hearsAlone, recordings } from "./EngineParts.ts"
import { Settings } from "./Settings.ts"

const useCases = Layer.mergeAll(Synthesis.layer, Recognition.layer({ atOnce: recordings.atOnce })).pipe(
  Layer.provideMerge(Layer.mergeAll(SoundLines.layer(), UploadedAudio.layer()))
)

const manyStreams = 200

/** More than the embedded recognisers that calls leave alone would take theirs. */
const liveRecognition = Layer.unwrap(
  Effect.map(Settings, (config) => LiveRecognition.layer(hearsAlone(config) ? recordings.live : manyStreams))
)

/** On the engines, the office and the file system. */
export const layer = Layer.mergeAll(
  SpeechDesk.layer,
  RecognitionDesk.layer,
  liveRecognition,
  VoiceDesigner.layer,
  VoiceTraining.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(SpeechSeats.layer, VoiceChoice.layer, InlineVoices.layer)),
  Layer.provideMerge(useCases)
)
