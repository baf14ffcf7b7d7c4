// The key of a socket's handshake: the same 401 with `WWW-Authenticate: Bearer` for a missing and a bad one.
import type { Principal } from "@parley/contract/MainApi/Authorization"
import type { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Effect, Redacted } from "effect"
import type { Handshake, RejectedUpgrade } from "./WebSocketRoutes.ts"

/** The owner of the key in `Authorization: Bearer`. */
export const bearer = Effect.fnUntraced(function* (
  keys: ApiKeys["Service"],
  { headers }: Handshake
): Effect.fn.Return<Principal, RejectedUpgrade> {
  const key = /^bearer\s+(\S+)$/i.exec(headers.authorization ?? "")?.[1]
  const principal = key === undefined ? undefined : yield* keys.authenticate(Redacted.make(key))
  return principal ?? (yield* Effect.fail(unauthorized))
})

const unauthorized: RejectedUpgrade = {
  status: 401,
  headers: { "www-authenticate": "Bearer" },
  body: { status: 401, message: "Missing or invalid API key", reason: null }
}
