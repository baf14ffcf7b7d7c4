// A request of a compatible API, given as fields of POST /v1/tts, becomes a request of the service. What does not fit those
// fields is the main API's 400.
import { BadRequest } from "@parley/contract/Errors"
import { faultsOf, sentenceOf } from "@parley/contract/Fault"
import { TtsRequest } from "@parley/contract/speech/TtsRequest"
import { Effect, Result, Schema } from "effect"
import { type RequestContext, synthesisRequest } from "@parley/app/speech/synthesisRequest"
import type { SynthesisRequest } from "@parley/app/speech/SpeechRequests"

const decode = Schema.decodeUnknownResult(TtsRequest)

/** On both compatible APIs `latency` is `low` when left out; on the main API it is `balanced`. */
const defaults = { latency: "low" }

/** `fields`: in the words of POST /v1/tts, not yet checked; `text` is left out. */
export const nativeRequest = (
  fields: Readonly<Record<string, unknown>>,
  context: RequestContext
): Effect.Effect<SynthesisRequest, BadRequest> => {
  const decoded = decode({ ...defaults, text: "", ...fields }, { errors: "all" })
  return Result.isFailure(decoded)
    ? Effect.fail(new BadRequest({ message: sentenceOf(faultsOf(decoded.failure.issue, "body")) }))
    : Effect.succeed(synthesisRequest(decoded.success, context))
}
