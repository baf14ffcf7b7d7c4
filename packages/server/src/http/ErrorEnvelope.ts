// The one place where an answer of the main API gets the error body, whatever went wrong on the way: our own errors
// (encoded by their schemas), routes that do not exist, bodies too large or of a wrong type, defects. No
// internals are shown: a defect is logged and answered with 500.
import type { ErrorBody } from "@parley/contract/Errors"
import { Cause, Effect } from "effect"
import { HttpServerError, type HttpServerRequest, HttpServerResponse } from "effect/http"

const words: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Missing or invalid API key",
  402: "Payment required",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  408: "Request timeout",
  413: "Request body too large",
  415: "Unsupported content type",
  416: "Range not satisfiable",
  422: "Validation failed",
  429: "Too many requests",
  431: "Request header fields too large",
  500: "Internal server error",
  502: "Bad gateway",
  503: "Service unavailable"
}

/** Around every route. Lets interruption pass. */
export const errorEnvelope = <R>(
  route: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R | HttpServerRequest.HttpServerRequest> =>
  route.pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.map(answer(cause), ([response]) => response)
    ),
    Effect.map(withErrorBody)
  )

const answer = (cause: Cause.Cause<unknown>) =>
  Effect.tap(HttpServerError.causeResponse(cause), ([response]) =>
    response.status >= 500 ? Effect.logError("A request failed", cause) : Effect.void
  )

/** Answers of 400 and more that are not already our JSON. */
const withErrorBody = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  if (response.status < 400) return response
  const complete = response.headers["content-type"]?.startsWith("application/json")
    ? response
    : errorResponse(statusOf(response.status))
  const header = headers[complete.status]
  return header === undefined ? complete : HttpServerResponse.setHeader(complete, ...header)
}

/** What belongs to a status besides its body. */
const headers: Readonly<Record<number, readonly [name: string, value: string]>> = {
  401: ["www-authenticate", "Bearer"],
  503: ["retry-after", "1"]
}

/** The framework's 499 is for a client that is gone. */
const statusOf = (status: number): number => (status in words ? status : status < 500 ? 400 : 500)

/** The same for a request that is no HTTP, answered on the bare socket. */
export const bareErrorResponse = (status: number): string => {
  const body = JSON.stringify({ status, message: words[status] ?? "Error", reason: null } satisfies ErrorBody)
  const head = [`HTTP/1.1 ${status} ${words[status] ?? "Error"}`, "Connection: close", "Content-Type: application/json"]
  return `${[...head, `Content-Length: ${Buffer.byteLength(body)}`].join("\r\n")}\r\n\r\n${body}`
}

/** An answer with the error body of the main API: `{status, message, reason: null}`. */
export const errorResponse = (status: number, message = words[status] ?? "Error") => {
  const body: ErrorBody = { status, message, reason: null }
  return HttpServerResponse.jsonUnsafe(body, { status })
}
