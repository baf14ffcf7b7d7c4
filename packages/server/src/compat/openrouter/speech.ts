// Synthesis in the OpenRouter-compatible API: its body becomes a request of the service. The service's own parameters come by
// header, by `provider.options` and, three of them, at the top level: in this order of precedence.
import { faultsOf, sentenceOf } from "@parley/contract/Fault"
import { type InputReference, SpeechRequest } from "@parley/contract/compat/openrouter/Speech"
import type { TtsModel } from "@parley/contract/speech/TtsRequest"
import { Effect, Result, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { SynthesisRequest } from "@parley/app/speech/SpeechRequests"
import { speakable } from "@parley/app/speech/synthesisRequest"
import { bodyBytes, parseJson } from "../../http/body/RequestBytes.ts"
import { modelNamed } from "../native/modelOf.ts"
import { nativeRequest } from "../native/nativeRequest.ts"
import { nativeOf, vendorHeaders } from "../native/vendorHeaders.ts"
import { type Failure, invalidRequest } from "./Envelope.ts"

/** Largest body: 32 MiB, else 413. */
const bodyLimit = 32 * 2 ** 20

/** Only these three of the service's own parameters are read at the top level. */
const sampling = ["temperature", "top_p", "repetition_penalty"] as const

/** The names under which the service's own parameters come. */
export interface Names {
  readonly vendor: string
  /** Further words for it under `provider.options`. */
  readonly aliases: ReadonlyArray<string>
}

const decode = Schema.decodeUnknownResult(SpeechRequest)

/** Reads the HTTP request; 400 for what does not fit, 413. */
export const synthesisInputOf = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  workspaceId: string,
  names: Names
): Effect.fn.Return<{ readonly synthesis: SynthesisRequest; readonly text: string }, Failure> {
  const body = decode(yield* jsonOf(request), { errors: "all" })
  if (Result.isFailure(body)) return yield* invalidRequest(sentenceOf(faultsOf(body.failure.issue, "body")))
  const given = body.success
  const model = yield* modelOf(given.model, names.vendor)
  const references = yield* referencesOf(given.input_references ?? [])
  const fields = {
    ...(given.speed == null ? {} : { prosody: { speed: given.speed } }),
    ...Object.fromEntries(sampling.flatMap((name) => (given[name] == null ? [] : [[name, given[name]]]))),
    ...(references.length === 0 ? {} : { references }),
    ...optionsOf(given.provider?.options ?? {}, names),
    ...vendorHeaders(request.headers, [names.vendor]),
    reference_id: given.voice ?? "",
    format: given.response_format ?? "pcm"
  }
  const synthesis = yield* nativeRequest(fields, { workspaceId, model, timing: false })
  return { synthesis, text: yield* speakable(given.input) }
})

const jsonOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<unknown, Failure> =>
  Effect.flatMap(bodyBytes(request, bodyLimit), parseJson).pipe(
    Effect.mapError(({ message, status }) => invalidRequest(message, status))
  )

/** Under the vendor's name, its audio name, or an alias; the first of them that is there counts for a parameter. */
export const optionsOf = (
  options: Readonly<Record<string, unknown>>,
  { aliases, vendor }: Names
): Readonly<Record<string, unknown>> =>
  Object.assign({}, ...[vendor, `${vendor}-audio`, ...aliases].toReversed().map((name) => nativeOf(options[name])))

const modelOf = (name: string, vendor: string): Effect.Effect<TtsModel, Failure> => {
  const named = modelNamed(name, [vendor])
  return named._tag === "Ours"
    ? Effect.succeed(named.model)
    : Effect.fail(invalidRequest("model is not a speech model"))
}

/** Audio and text are parts of one row: a text belongs to the recording before it. */
const referencesOf = Effect.fnUntraced(function* (parts: ReadonlyArray<InputReference>) {
  const pairs: Array<{ audio: string; text: string }> = []
  for (const part of parts) {
    if (part.type === "input_audio") pairs.push({ audio: part.input_audio.data, text: "" })
    else {
      const last = pairs.at(-1)
      if (last === undefined) return yield* invalidRequest("input_references must begin with input_audio")
      pairs[pairs.length - 1] = { ...last, text: [last.text, part.text].filter((text) => text !== "").join(" ") }
    }
  }
  return pairs
})
