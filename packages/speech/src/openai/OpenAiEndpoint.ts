// One request to an OpenAI-compatible audio endpoint: bounded, tried again at most once and only before the
// first byte, aborted for good when its scope closes. Statuses become reasons; bodies of errors are not read,
// because they may quote the text.
import { Duration, Effect, Redacted } from "effect"
import type { Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"

/** Where the service is, the model, and the bounds of a request. */
export interface OpenAiEndpoint {
  /** Up to and with the version: `https://api.openai.com/v1`. */
  readonly baseUrl: string
  readonly apiKey?: Redacted.Redacted | undefined
  readonly model: string
  /** Fields put into every request body over our own. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined
  /** From asking to the answer's first bytes. Default 10 s. */
  readonly firstByteMs?: number | undefined
  /** Longest wait without progress once it answers. Default 5 s. */
  readonly gapMs?: number | undefined
}

export const provider = "openai"

/** An answer under way. `read` gives the next bytes, `undefined` at the end. */
export interface OpenAiAnswer {
  readonly contentType: string
  readonly read: Effect.Effect<Uint8Array | undefined, SpeechError>
}

const retryPauseMs = 150

/** The body is made anew for each try. Succeeds when the first bytes are there or the body ended without any. */
export const post = (
  endpoint: OpenAiEndpoint,
  path: string,
  body: () => string | FormData
): Effect.Effect<OpenAiAnswer, SpeechError, Scope.Scope> => {
  const attempt = send(endpoint, path, body)
  return Effect.catch(attempt, (error) =>
    error.reason === "Unavailable" || error.reason === "Overloaded"
      ? Effect.andThen(Effect.sleep(retryPauseMs), attempt)
      : Effect.fail(error)
  ).pipe(
    Effect.timeoutOrElse({
      duration: endpoint.firstByteMs ?? 10_000,
      orElse: () => Effect.fail(failure("Timeout", "no answer"))
    })
  )
}

const send = Effect.fnUntraced(function* (
  endpoint: OpenAiEndpoint,
  path: string,
  makeBody: () => string | FormData
): Effect.fn.Return<OpenAiAnswer, SpeechError, Scope.Scope> {
  const controller = yield* Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (controller) => Effect.sync(() => controller.abort())
  )
  const { body, contentType } = yield* Effect.promise(() => encoded(makeBody()))
  const response = yield* Effect.tryPromise({
    try: () =>
      fetch(`${endpoint.baseUrl.replace(/\/+$/, "")}${path}`, {
        method: "POST",
        body,
        signal: controller.signal,
        redirect: "error",
        headers: {
          "content-type": contentType,
          ...(endpoint.apiKey === undefined ? {} : { authorization: `Bearer ${Redacted.value(endpoint.apiKey)}` })
        }
      }),
    catch: () => failure("Unavailable", "connection failed")
  })
  if (!response.ok) {
    controller.abort()
    return yield* failure(reasonOf(response.status), `status ${response.status}`)
  }
  const reader = response.body?.getReader()
  const next = Effect.tryPromise({
    try: async () => (await reader?.read())?.value,
    catch: () => failure("Unavailable", "connection lost")
  })
  let first = yield* next
  return {
    contentType: response.headers.get("content-type") ?? "",
    read: Effect.suspend(() => {
      if (first === undefined) return next
      const bytes = first
      first = undefined
      return Effect.succeed(bytes)
    })
  }
})

/**
 * A form as bytes: streamed, it throws outside of everybody's reach when the connection is refused under it.
 */
const encoded = async (
  body: string | FormData
): Promise<{ readonly body: string | ArrayBuffer; readonly contentType: string }> => {
  if (typeof body === "string") return { body, contentType: "application/json" }
  const form = new Response(body)
  return { body: await form.arrayBuffer(), contentType: form.headers.get("content-type") ?? "" }
}

/**
 * `read` under a watch: waiting in one piece, or in all beyond `allowedMs` (what the audio so far is worth), more
 * than `gapMs` fails. Time the consumer takes between reads does not count.
 */
export const watched = (
  answer: OpenAiAnswer,
  gapMs: number,
  allowedMs: () => number
): Effect.Effect<Uint8Array | undefined, SpeechError> => {
  let waitedMs = 0
  return Effect.suspend(() => {
    const leftMs = Math.max(1, Math.min(gapMs, gapMs + allowedMs() - waitedMs))
    return Effect.timed(answer.read).pipe(
      Effect.timeoutOrElse({
        duration: leftMs,
        orElse: () => Effect.fail(failure("Timeout", "the answer came too slowly"))
      }),
      Effect.map(([took, bytes]) => {
        waitedMs += Duration.toMillis(took)
        return bytes
      })
    )
  })
}

/** A `SpeechError` of this provider. */
export const failure = (reason: SpeechErrorReason, message: string): SpeechError =>
  new SpeechError({ reason, provider, message })

const reasonOf = (status: number): SpeechErrorReason => {
  if (status === 401 || status === 403) return "Unauthorized"
  if (status === 429) return "Overloaded"
  if (status === 408 || status === 504) return "Timeout"
  // A missing path or model is this provider's lack, not the request's fault: another one may have it.
  if (status === 404 || status >= 500) return "Unavailable"
  return "BadRequest"
}
