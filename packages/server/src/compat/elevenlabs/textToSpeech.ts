// Layer A speaks (spec: the ElevenLabs-compatible API, 1-5): a body and a query in its words, an order in ours.
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

/** Largest JSON body (decisions 13.3). */
const bodyLimit = 140 * 2 ** 20

const decode = Schema.decodeUnknownResult(TextToSpeech)

export interface SynthesisInput {
  readonly synthesis: SynthesisRequest
  readonly text: string
}

/** Of the request at hand. `timing`: the variants with timestamps. */
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

export interface ElevenLabsRequest {
  readonly workspaceId: string
  readonly voiceId: string
  readonly model: TtsModel
  readonly format: FormatFields
  readonly settings: VoiceSettings | undefined
  /** From vendor headers: they stand over the layer's own words. */
  readonly native: Readonly<Record<string, unknown>>
  readonly timing: boolean
}

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

/** Third-party models are served by the default one; a name like ours must be one of ours. */
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
    Effect.mapError((refusal) => (refusal.status === 400 ? invalidRequest(refusal.message) : refusal))
  )
