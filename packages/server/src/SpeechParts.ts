// The speech half of the service, made from the engines: the use cases, and the requests of all three APIs that use them.
import { Recognition } from "@parley/speech/Recognition"
import { EncoderPool } from "@parley/speech/encoding/EncoderPool"
import { Synthesis } from "@parley/speech/Synthesis"
import { UploadedAudio } from "@parley/speech/upload/UploadedAudio"
import { VoiceTraining } from "@parley/workspace/voices/VoiceTraining"
import { Effect, Layer } from "effect"
import { InlineVoices } from "@parley/app/speech/InlineVoices"
import { LiveRecognition } from "@parley/app/speech/LiveRecognition"
import { RecognitionRequests } from "@parley/app/speech/RecognitionRequests"
import { SpeechRequests } from "@parley/app/speech/SpeechRequests"
import { SpeechPermits } from "@parley/app/speech/SpeechPermits"
import { VoiceChoice } from "@parley/app/speech/VoiceChoice"
import { VoiceDesigner } from "@parley/app/speech/VoiceDesigner"
import { isRecognitionEmbedded, recordings } from "./EngineParts.ts"
import { Settings } from "./Settings.ts"

const useCases = Layer.mergeAll(Synthesis.layer, Recognition.layer({ atOnce: recordings.atOnce })).pipe(
  Layer.provideMerge(Layer.mergeAll(EncoderPool.layer(), UploadedAudio.layer()))
)

const manyStreams = 200

/** More than the embedded recognisers that calls leave alone would take theirs. */
const liveRecognition = Layer.unwrap(
  Effect.map(Settings, (config) => LiveRecognition.layer(isRecognitionEmbedded(config) ? recordings.live : manyStreams))
)

/** Needs the engines, the workspace's services and the file system. */
export const layer = Layer.mergeAll(
  SpeechRequests.layer,
  RecognitionRequests.layer,
  liveRecognition,
  VoiceDesigner.layer,
  VoiceTraining.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(SpeechPermits.layer, VoiceChoice.layer, InlineVoices.layer)),
  Layer.provideMerge(useCases)
)
