// The key of the OpenRouter-compatible API: Bearer, as on the main API.
import type { Principal } from "@parley/contract/MainApi/Authorization"
import type { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { OpenRouterFault } from "./Envelope.ts"

/** The owner of the key; 401 `authentication_error` for a missing and for an unknown one. */
export const callerOf = Effect.fnUntraced(function* (
  keys: ApiKeys["Service"]
): Effect.fn.Return<Principal, OpenRouterFault, HttpServerRequest.HttpServerRequest> {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const key = /^bearer\s+(\S+)$/i.exec(headers["authorization"] ?? "")?.[1]
  const principal = key === undefined ? undefined : yield* keys.authenticate(Redacted.make(key))
  return principal ?? (yield* unauthorized)
})

const unauthorized = new OpenRouterFault({
  status: 401,
  type: "authentication_error",
  message: "Missing or invalid API key"
})
