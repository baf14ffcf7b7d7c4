// The one place where answers of the OpenRouter-compatible API get their error envelope, `{error: {code, message, type}}`:
// errors of this API without metadata, those of the main API as `provider_error` with the service's name.
import type { OpenRouterBody } from "@parley/contract/compat/openrouter/Envelope"
import { Cause, Data, Effect } from "effect"
import type { MainApiError } from "../native/MainApiError.ts"
import { HttpServerResponse } from "effect/http"

/** An error of this API itself. */
export class OpenRouterFault extends Data.TaggedError("OpenRouterFault")<{
  readonly status: number
  readonly type: "invalid_request_error" | "authentication_error" | "not_found_error" | "server_error"
  readonly message: string
}> {}

/** An `invalid_request_error`, 400 unless another status is given. */
export const invalidRequest = (message: string, status = 400): OpenRouterFault =>
  new OpenRouterFault({ status, type: "invalid_request_error", message })

export type Failure = OpenRouterFault | MainApiError

/** Around every route of this API. `vendor`: the service's name in errors. Lets interruption pass. */
export const withEnvelope =
  (vendor: string) =>
  <R>(
    route: Effect.Effect<HttpServerResponse.HttpServerResponse, Failure, R>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
    route.pipe(
      Effect.catch((failure) => Effect.succeed(respond(failure, vendor))),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.as(
              Effect.logError("A request of the OpenRouter-compatible API failed", cause),
              respond(internal, vendor)
            )
      )
    )

const internal = new OpenRouterFault({ status: 500, type: "server_error", message: "Internal server error" })

const respond = (failure: Failure, vendor: string): HttpServerResponse.HttpServerResponse => {
  const { message, status } = failure
  const own = failure instanceof OpenRouterFault
  const body: OpenRouterBody = {
    error: {
      code: status,
      message,
      type: own ? failure.type : "provider_error",
      ...(own ? {} : { metadata: { provider_name: vendor } })
    }
  }
  const headers = status === 429 || status === 503 ? { "retry-after": "1" } : {}
  return HttpServerResponse.jsonUnsafe(body, { status, headers })
}
