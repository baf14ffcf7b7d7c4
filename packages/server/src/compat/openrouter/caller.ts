// The key of the OpenRouter-compatible API: Bearer, as on the main API, with the scope `speak`.
import type { Principal } from "@parley/contract/MainApi/Authorization"
import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { type Failure, OpenRouterFault } from "./Envelope.ts"
import type { KeyCheck } from "../../http/KeyCheck.ts"

/** The owner of the key; 401 `authentication_error` for a missing and for an unknown one. */
export const callerOf = Effect.fnUntraced(function* (
  keys: KeyCheck["Service"]
): Effect.fn.Return<Principal, Failure, HttpServerRequest.HttpServerRequest> {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const key = /^bearer\s+(\S+)$/i.exec(headers["authorization"] ?? "")?.[1]
  const principal = key === undefined ? undefined : yield* keys.authenticate(Redacted.make(key), "speak")
  return principal ?? (yield* unauthorized)
})

const unauthorized = new OpenRouterFault({
  status: 401,
  type: "authentication_error",
  message: "Missing or invalid API key"
})
