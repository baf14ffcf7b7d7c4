// The key of the ElevenLabs-compatible API, in the header `xi-api-key`, with the scope `speak` for all of it. A missing one is 401 `unauthorized`; one that is not
// known is the main API's 401 "No permission".
import type { Principal } from "@parley/contract/MainApi/Authorization"
import { Effect, Redacted } from "effect"
import { type Failure, ElevenLabsFault } from "./Envelope.ts"
import type { KeyCheck } from "../../http/KeyCheck.ts"

/** The owner of the key. */
export const callerOf = Effect.fnUntraced(function* (
  keys: KeyCheck["Service"],
  key: string | undefined
): Effect.fn.Return<Principal, Failure> {
  if (key === undefined || key === "") return yield* missing
  const principal = yield* keys.authenticate(Redacted.make(key), "speak")
  return principal ?? (yield* Effect.fail({ status: 401, message: "No permission" }))
})

const missing = new ElevenLabsFault({ http: 401, status: "unauthorized", message: "The header xi-api-key is missing" })
