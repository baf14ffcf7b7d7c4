// The ElevenLabs-compatible API: all its routes and sockets.
import { Layer } from "effect"
import * as Catalogue from "./CatalogueRoutes.ts"
import * as RealtimeSpeechToText from "./RealtimeSpeechToText.ts"
import * as SpeechToText from "./SpeechToTextRoute.ts"
import * as StreamInput from "./StreamInput.ts"
import * as TextToSpeech from "./TextToSpeechRoutes.ts"

export const layer = Layer.mergeAll(
  TextToSpeech.layer,
  SpeechToText.layer,
  Catalogue.layer,
  StreamInput.layer,
  RealtimeSpeechToText.layer
)
