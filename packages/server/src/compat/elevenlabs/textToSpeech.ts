// Synthesis in the ElevenLabs-compatible API: its body and query become a request of the service.
import type { Principal } from "@parley/contract/MainApi/Authorization"
import { faultsOf, sentenceOf } from "@parley/contract/Fault"
import { TextToSpeech, type VoiceSettings } from "@parley/contract/compat/elevenlabs/TextToSpeech"
import type { TtsModel } from "@parley/contract/speech/TtsRequest"
import { Effect, Result, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { speakable } from "@parley/app/speech/synthesisRequest"
import type { SynthesisRequest } from "@parley/app/speech/SpeechRequests"
import { bodyBytes, parseJson } from "../../http/body/RequestBytes.ts"
import { modelNamed } from "../native/modelOf.ts"
import { nativeRequest } from "../native/nativeRequest.ts"
import { vendorHeaders } from "../native/vendorHeaders.ts"
import { type Failure, invalidRequest, ElevenLabsFault } from "./Envelope.ts"
import { defaultFormat, type FormatFields, formatOf } from "./outputFormat.ts"

/** Largest JSON body: 140 MiB, else 413. */
const bodyLimit = 140 * 2 ** 20

const decode = Schema.decodeUnknownResult(TextToSpeech)

/** A request, and the text to speak. */
export interface SynthesisInput {
  readonly synthesis: SynthesisRequest
  readonly text: string
}

/**
 * Reads the HTTP request at hand. `timing`: the variants with timestamps, which take no inline references. Fails with 400
 * for what does not fit, 404 for an unknown model of the service's own, 413.
 */
export const synthesisInputOf = Effect.fnUntraced(function* (
  { workspaceId }: Principal,
  voiceId: string,
  vendor: string,
  timing: boolean
): Effect.fn.Return<SynthesisInput, Failure, HttpServerRequest.HttpServerRequest> {
  const request = yield* HttpServerRequest.HttpServerRequest
  const query = new URL(request.url, "http://localhost").searchParams
  const format = formatOf(query.get("output_format") ?? defaultFormat)
  if (Result.isFailure(format)) return yield* invalidRequest(format.failure.message)
  const body = decode(yield* jsonBody(request), { errors: "all" })
  if (Result.isFailure(body)) return yield* invalidRequest(sentenceOf(faultsOf(body.failure.issue, "body")))
  const { model_id, text, voice_settings } = body.success
  const native = vendorHeaders(request.headers, [vendor])
  if (timing && "references" in native) return yield* invalidRequest("references cannot be used with timestamps")
  const synthesis = yield* requestOf({
    workspaceId,
    voiceId,
    model: yield* modelOf(model_id ?? "", vendor),
    format: format.success,
    settings: voice_settings ?? undefined,
    native,
    timing
  })
  return { synthesis, text: yield* speakable(text) }
})

/** What a synthesis request of this API says. */
export interface ElevenLabsRequest {
  readonly workspaceId: string
  readonly voiceId: string
  readonly model: TtsModel
  readonly format: FormatFields
  readonly settings: VoiceSettings | undefined
  /** From vendor headers: they go before the body's own fields. */
  readonly native: Readonly<Record<string, unknown>>
  readonly timing: boolean
}

/** The request in the service's words; 400 where a value does not fit them. */
export const requestOf = ({ format, model, native, settings, timing, voiceId, workspaceId }: ElevenLabsRequest) =>
  nativeRequest(
    {
      reference_id: voiceId === "default" || voiceId === "-" ? "" : voiceId,
      ...(settings?.speed == null ? {} : { prosody: { speed: settings.speed } }),
      ...(settings?.stability == null ? {} : { temperature: 1 - settings.stability }),
      ...native,
      ...format
    },
    { workspaceId, model, timing }
  )

/** Models of the third party are served by the default one; a name with the service's prefix must be one of its models, else 404. */
export const modelOf = (modelId: string, vendor: string): Effect.Effect<TtsModel, ElevenLabsFault> => {
  const named = modelNamed(modelId, [vendor])
  switch (named._tag) {
    case "Ours":
      return Effect.succeed(named.model)
    case "Foreign":
      return Effect.succeed("s2.1-pro")
    case "Unknown":
      return Effect.fail(new ElevenLabsFault({ http: 404, status: "model_not_found", message: "Model not found" }))
  }
}

/** Any content type: the third party's clients do not all say JSON. */
const jsonBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<unknown, Failure> =>
  Effect.flatMap(bodyBytes(request, bodyLimit), parseJson).pipe(
    Effect.mapError((error) => (error.status === 400 ? invalidRequest(error.message) : error))
  )
