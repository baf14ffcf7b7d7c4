// The body of the synthesis endpoints, as JSON or as MessagePack with the same fields.
import { BadRequest, type Invalid, invalid, type TooLarge, UnsupportedMediaType } from "@parley/contract/Errors"
import { faultsOf } from "@parley/contract/Fault"
import { TtsRequest, TtsRequestBinary } from "@parley/contract/speech/TtsRequest"
import { Effect, Result, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { MessagePack } from "./MessagePack.ts"
import { bodyBytes, parseJson } from "./RequestBytes.ts"

/** Largest body of a synthesis request: 32 MiB, else 413. */
const limit = 32 * 2 ** 20

const ofJson = Schema.decodeUnknownResult(TtsRequest)
const ofMessagePack = Schema.decodeUnknownResult(TtsRequestBinary)

/** The checked body of a synthesis request: 400 when it cannot be read, 413, 415, and 422 with every wrong field. */
export const ttsBody = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest
): Effect.fn.Return<TtsRequest, BadRequest | Invalid | TooLarge | UnsupportedMediaType> {
  const bytes = yield* bodyBytes(request, limit)
  const type = (request.headers["content-type"] ?? "application/json").split(";", 1)[0]?.trim().toLowerCase()
  const decoded = yield* type === "application/json"
    ? Effect.map(parseJson(bytes), (value) => ofJson(value, { errors: "all" }))
    : type === "application/msgpack"
      ? Effect.map(unpack(bytes), (value) => ofMessagePack(value, { errors: "all" }))
      : Effect.fail(new UnsupportedMediaType({ message: "Unsupported content type" }))
  if (Result.isFailure(decoded)) return yield* invalid(faultsOf(decoded.failure.issue, "body"))
  return decoded.success
})

const unpack = (bytes: Uint8Array): Effect.Effect<unknown, BadRequest> => {
  const value = MessagePack.decode(bytes)
  return Result.isSuccess(value)
    ? Effect.succeed(value.success)
    : Effect.fail(new BadRequest({ message: "Malformed MessagePack" }))
}
