// Speaking, listening and designing voices. The live sockets are not HTTP
// and are described in the server's README.
import { Schema } from "effect"
import { Multipart } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  BadGateway,
  BadRequest,
  Invalid,
  PaymentRequired,
  TooLarge,
  TooManyRequests,
  Unavailable,
  UnsupportedMediaType
} from "../Errors.ts"
import { TimedAudio } from "../speech/SpeechTiming.ts"
import { Transcript } from "../speech/Transcript.ts"
import { TtsRequest } from "../speech/TtsRequest.ts"
import { VoiceCandidates, VoiceDesign } from "../speech/VoiceDesign.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

/** MessagePack of the same fields as the JSON body, binary where JSON has base64. */
const messagePack = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/msgpack" }))

/** The one thing these bodies have besides the audio file; every field is text in a form. */
const Recording = Schema.Struct({
  audio: Multipart.SingleFileSchema,
  /** ISO 639-1 hint. */
  language: Schema.optionalKey(Schema.String),
  /** Anything but `true` means false; true when absent. */
  ignore_timestamps: Schema.optionalKey(Schema.String)
}).pipe(HttpApiSchema.asMultipart())

const refusals = [BadRequest, Invalid, PaymentRequired, TooLarge, UnsupportedMediaType, TooManyRequests] as const
const failures = [BadGateway, Unavailable] as const

/** Endpoints of synthesis, recognition and voice design. */
export class SpeechApi extends HttpApiGroup.make("speech")
  .add(
    HttpApiEndpoint.post("speak", "/v1/tts", {
      headers: { model: Schema.optionalKey(Schema.String), traceparent: Schema.optionalKey(Schema.String) },
      payload: [TtsRequest, messagePack],
      success: HttpApiSchema.StreamUint8Array({ contentType: ["audio/mpeg", "audio/wav", "audio/pcm", "audio/ogg"] }),
      error: [...refusals, ...failures]
    }),
    HttpApiEndpoint.post("speakWithTimestamps", "/v1/tts/stream/with-timestamp", {
      headers: { model: Schema.optionalKey(Schema.String), traceparent: Schema.optionalKey(Schema.String) },
      payload: [TtsRequest, messagePack],
      success: HttpApiSchema.StreamSse({ data: TimedAudio }),
      error: [...refusals, ...failures]
    }),
    HttpApiEndpoint.post("transcribe", "/v1/asr", {
      headers: { model: Schema.optionalKey(Schema.String), traceparent: Schema.optionalKey(Schema.String) },
      payload: [Recording, messagePack],
      success: Transcript,
      error: [...refusals, ...failures]
    }),
    HttpApiEndpoint.post("designVoice", "/v1/voice-design", {
      payload: VoiceDesign,
      success: VoiceCandidates,
      error: [...refusals, ...failures]
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Speech" })) {}
