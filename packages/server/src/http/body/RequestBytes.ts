// A small body, whole: up to its limit, else 413; as JSON within bounds, else 400.
import { BadRequest, TooLarge } from "@parley/contract/Errors"
import { ByteSize, Effect, Result } from "effect"
import { HttpIncomingMessage, type HttpServerError, type HttpServerRequest } from "effect/http"
import { jsonExcess } from "./jsonBounds.ts"

/** The whole body, at most `limit` bytes: 413 beyond, 400 when it was cut off. */
export const bodyBytes = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<Uint8Array, BadRequest | TooLarge> =>
  withinLimit(request, limit).pipe(
    Effect.andThen(
      request.arrayBuffer.pipe(
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit)),
        Effect.map((buffer) => new Uint8Array(buffer)),
        Effect.mapError(({ reason }) => bodyError(reason, limit))
      )
    )
  )

/** Refuses a body that says that it is too large before any of it is read. */
export const withinLimit = (
  { headers }: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<void, TooLarge> =>
  Number(headers["content-length"] ?? 0) > limit ? Effect.fail(tooLarge(limit)) : Effect.void

/** What became of a body that could not be read. */
export const bodyError = (reason: HttpServerError.HttpServerErrorReason, limit: number): BadRequest | TooLarge =>
  "reason" in reason && reason.reason === "BodyTooLarge"
    ? tooLarge(limit)
    : new BadRequest({ message: "The body was cut" })

/** The 413 that names the limit, given in bytes, in MiB. */
export const tooLarge = (limit: number): TooLarge =>
  new TooLarge({ message: `Request body too large: at most ${Math.floor(limit / 2 ** 20)} MiB` })

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The JSON value of UTF-8 bytes; 400 for anything else, and for what is beyond `jsonBounds`. */
export const parseJson = (bytes: Uint8Array): Effect.Effect<unknown, BadRequest> =>
  Effect.flatMap(
    Effect.try({ try: () => utf8.decode(bytes), catch: () => new BadRequest({ message: "Malformed JSON" }) }),
    (text) => Effect.fromResult(jsonOf(text))
  )

/** The same of a text. */
export const jsonOf = (text: string): Result.Result<unknown, BadRequest> => {
  const excess = jsonExcess(text)
  if (excess !== undefined) return Result.fail(new BadRequest({ message: excess }))
  return Result.try({
    try: (): unknown => JSON.parse(text),
    catch: () => new BadRequest({ message: "Malformed JSON" })
  })
}
