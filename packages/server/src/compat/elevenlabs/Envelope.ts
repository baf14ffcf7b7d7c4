// The one place where answers of the ElevenLabs-compatible API get their error envelope, `{detail: {status, message}}`: errors
// of this API with its own word as `status`, errors of the main API by their HTTP status or as `provider_error`, and whatever
// else goes wrong as 500.
import type { ElevenLabsBody, ElevenLabsStatus } from "@parley/contract/compat/elevenlabs/Envelope"
import { Cause, Data, Effect } from "effect"
import type { MainApiError } from "../native/MainApiError.ts"
import { HttpServerResponse } from "effect/http"
import type { RejectedUpgrade } from "../../http/sockets/WebSocketRoutes.ts"

/** An error of this API itself. `http`: the HTTP status. */
export class ElevenLabsFault extends Data.TaggedError("ElevenLabsFault")<{
  readonly http: number
  readonly status: Exclude<ElevenLabsStatus, "provider_error">
  readonly message: string
}> {}

/** A 400 with the status `invalid_request`. */
export const invalidRequest = (message: string): ElevenLabsFault =>
  new ElevenLabsFault({ http: 400, status: "invalid_request", message })

export type Failure = ElevenLabsFault | MainApiError

/** The HTTP status of an error and its body. */
export const errorBody = (failure: Failure): { readonly http: number; readonly body: ElevenLabsBody } => {
  if (failure instanceof ElevenLabsFault) {
    return { http: failure.http, body: { detail: { status: failure.status, message: failure.message } } }
  }
  const own = ownWords[failure.status]
  return {
    http: failure.status,
    body: { detail: { status: own ?? "provider_error", message: failure.message } }
  }
}

/** HTTP statuses for which this API has a word of its own. */
const ownWords: Readonly<Record<number, ElevenLabsStatus>> = {
  404: "not_found",
  413: "payload_too_large",
  415: "invalid_request",
  429: "rate_limit_error",
  502: "upstream_error",
  503: "upstream_error"
}

/** Around every route of this API. Lets interruption pass. */
export const withEnvelope = <R>(
  route: Effect.Effect<HttpServerResponse.HttpServerResponse, Failure, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
  route.pipe(
    Effect.catch((failure) => Effect.succeed(respond(failure))),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.as(Effect.logError("A request of the ElevenLabs-compatible API failed", cause), respond(internal))
    )
  )

const internal: Failure = new ElevenLabsFault({ http: 500, status: "upstream_error", message: "Internal server error" })

const respond = (failure: Failure): HttpServerResponse.HttpServerResponse => {
  const { body, http } = errorBody(failure)
  const headers = http === 429 || http === 503 ? { "retry-after": "1" } : {}
  return HttpServerResponse.jsonUnsafe(body, { status: http, headers })
}

/** The same as the answer to a handshake that is refused. */
export const rejectedUpgrade = (failure: Failure): RejectedUpgrade => {
  const { body, http } = errorBody(failure)
  return { status: http, body }
}
