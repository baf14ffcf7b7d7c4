// The one place where layer A's answers get their error envelope (spec: Errors): the layer's own refusals, refusals
// of the main API as `provider_error` with their message, and whatever else goes wrong.
import type { ElevenLabsBody, ElevenLabsStatus } from "@parley/contract/compat/elevenlabs/Envelope"
import { Cause, Data, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { RejectedUpgrade } from "../../http/sockets/WebSocketRoutes.ts"

/** A refusal of the layer itself. */
export class ElevenLabsFault extends Data.TaggedError("ElevenLabsFault")<{
  readonly http: number
  readonly status: Exclude<ElevenLabsStatus, "provider_error">
  readonly message: string
}> {}

export const invalidRequest = (message: string): ElevenLabsFault =>
  new ElevenLabsFault({ http: 400, status: "invalid_request", message })

/** A refusal in the words of the main API. */
export interface MainApiError {
  readonly status: number
  readonly message: string
}

export type Failure = ElevenLabsFault | MainApiError

export const painted = (failure: Failure): { readonly http: number; readonly body: ElevenLabsBody } => {
  if (failure instanceof ElevenLabsFault) {
    return { http: failure.http, body: { detail: { status: failure.status, message: failure.message } } }
  }
  const own = ownWords[failure.status]
  return {
    http: failure.status,
    body: { detail: { status: own ?? "provider_error", message: failure.message } }
  }
}

/** Statuses for which the layer has a word of its own. */
const ownWords: Readonly<Record<number, ElevenLabsStatus>> = {
  404: "not_found",
  413: "payload_too_large",
  415: "invalid_request",
  429: "rate_limit_error",
  502: "upstream_error",
  503: "upstream_error"
}

/** Around every route of the layer. Lets interruption pass. */
export const withEnvelope = <R>(
  route: Effect.Effect<HttpServerResponse.HttpServerResponse, Failure, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
  route.pipe(
    Effect.catch((failure) => Effect.succeed(respond(failure))),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.as(Effect.logError("A request of layer A failed", cause), respond(internal))
    )
  )

const internal: Failure = new ElevenLabsFault({ http: 500, status: "upstream_error", message: "Internal server error" })

const respond = (failure: Failure): HttpServerResponse.HttpServerResponse => {
  const { body, http } = painted(failure)
  const headers = http === 429 || http === 503 ? { "retry-after": "1" } : {}
  return HttpServerResponse.jsonUnsafe(body, { status: http, headers })
}

/** The same instead of an upgrade. */
export const rejectedUpgrade = (failure: Failure): RejectedUpgrade => {
  const { body, http } = painted(failure)
  return { status: http, body }
}
