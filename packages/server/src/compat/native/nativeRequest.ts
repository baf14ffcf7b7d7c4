// A request of a compatibility layer, put into the words of POST /v1/tts, as an order for the desk. What does not fit
// those words is the main API's refusal.
import { BadRequest } from "@parley/contract/Errors"
import { faultsOf, sentenceOf } from "@parley/contract/Fault"
import { TtsRequest } from "@parley/contract/speech/TtsRequest"
import { Effect, Result, Schema } from "effect"
import { type RequestContext, synthesisRequest } from "@parley/app/speech/synthesisRequest"
import type { SynthesisRequest } from "@parley/app/speech/SpeechRequests"

const decode = Schema.decodeUnknownResult(TtsRequest)

/** The layers' default of `latency` (decisions 13.2). */
const defaults = { latency: "low" }

export const nativeRequest = (
  fields: Readonly<Record<string, unknown>>,
  context: RequestContext
): Effect.Effect<SynthesisRequest, BadRequest> => {
  const decoded = decode({ ...defaults, text: "", ...fields }, { errors: "all" })
  return Result.isFailure(decoded)
    ? Effect.fail(new BadRequest({ message: sentenceOf(faultsOf(decoded.failure.issue, "body")) }))
    : Effect.succeed(synthesisRequest(decoded.success, context))
}
