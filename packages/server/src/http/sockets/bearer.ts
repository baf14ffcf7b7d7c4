// The key of a socket's handshake: the same 401 with `WWW-Authenticate: Bearer` for a missing and a bad one, 403 for one that
// may not speak.
import type { Forbidden, TooManyRequests } from "@parley/contract/Errors"
import type { Principal } from "@parley/contract/MainApi/Authorization"
import { Effect, Redacted } from "effect"
import type { Handshake, RejectedUpgrade } from "./WebSocketRoutes.ts"
import type { KeyCheck } from "../KeyCheck.ts"

/** The owner of the key in `Authorization: Bearer`. */
export const bearer = Effect.fnUntraced(function* (
  keys: KeyCheck["Service"],
  { headers }: Handshake
): Effect.fn.Return<Principal, RejectedUpgrade> {
  const key = /^bearer\s+(\S+)$/i.exec(headers.authorization ?? "")?.[1]
  const principal =
    key === undefined ? undefined : yield* Effect.mapError(keys.authenticate(Redacted.make(key), "speak"), refused)
  return principal ?? (yield* Effect.fail(unauthorized))
})

const refused = ({ message, status }: Forbidden | TooManyRequests): RejectedUpgrade => ({
  status,
  headers: status === 429 ? { "retry-after": "60" } : {},
  body: { status, message, reason: null }
})

const unauthorized: RejectedUpgrade = {
  status: 401,
  headers: { "www-authenticate": "Bearer" },
  body: { status: 401, message: "Missing or invalid API key", reason: null }
}
