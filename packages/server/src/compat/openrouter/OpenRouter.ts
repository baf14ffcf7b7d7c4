// The OpenRouter-compatible API: all its routes.
import { Layer } from "effect"
import * as Models from "./ModelsRoute.ts"
import * as Speech from "./SpeechRoute.ts"
import * as Transcription from "./TranscriptionRoute.ts"

export const layer = Layer.mergeAll(Speech.layer, Transcription.layer, Models.layer)
