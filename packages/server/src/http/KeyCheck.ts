// Keys as requests bring them, and whether they may do what is asked: every door of the service asks here. A wrong one is answered the later, the more of them came from the same address in this minute;
// a right one is never held up, so that nobody behind the same address is locked out.
import type { KeyScope } from "@parley/contract/ApiKey"
import { Forbidden, TooManyRequests } from "@parley/contract/Errors"
import type { Principal } from "@parley/contract/MainApi/Authorization"
import { MinuteWindows } from "@parley/app/publicAccess/MinuteWindows"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import { Settings } from "../Settings.ts"
import { clientAddress } from "./clientAddress.ts"

/** Wrong keys from an address in a minute that are answered at once. */
const freeFailures = 10
const delayStepMs = 250
const longestDelayMs = 5_000
/** Answers to wrong keys that wait at the same time; further ones are 429. */
const mostWaitingByAddress = 8
const mostWaiting = 512

/** Who has the key of a request. */
export class KeyCheck extends Context.Service<
  KeyCheck,
  {
    /** Undefined, after a while, for a key that is unknown, expired or revoked; Forbidden for one without the scope. */
    readonly authenticate: (
      key: Redacted.Redacted<string>,
      scope: KeyScope
    ) => Effect.Effect<Principal | undefined, Forbidden | TooManyRequests>
  }
>()("@parley/server/KeyCheck") {
  static readonly layer: Layer.Layer<KeyCheck, never, ApiKeys | Settings> = Layer.effect(
    KeyCheck,
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const settings = yield* Settings
      const failures = new MinuteWindows()
      const waiting = new Map<string, number>()
      let allWaiting = 0

      const enter = (address: string): boolean => {
        const here = waiting.get(address) ?? 0
        if (here >= mostWaitingByAddress || allWaiting >= mostWaiting) return false
        waiting.set(address, here + 1)
        allWaiting += 1
        return true
      }
      const leave = (address: string): void => {
        const here = (waiting.get(address) ?? 1) - 1
        if (here === 0) waiting.delete(address)
        else waiting.set(address, here)
        allWaiting -= 1
      }

      const failed = Effect.gen(function* () {
        const address = yield* clientAddress
        const nowMs = yield* Clock.currentTimeMillis
        failures.count(address, nowMs)
        const delayMs = delayStepMs * (failures.countOf(address, nowMs) - freeFailures)
        if (delayMs <= 0) return
        if (!enter(address)) return yield* new TooManyRequests({ message: "Too many invalid API keys" })
        yield* Effect.ensuring(
          Effect.sleep(Math.min(longestDelayMs, delayMs)),
          Effect.sync(() => leave(address))
        )
      }).pipe(Effect.provideService(Settings, settings))

      return {
        authenticate: Effect.fnUntraced(function* (key, scope) {
          const principal = yield* keys.authenticate(key)
          if (principal === undefined) yield* failed
          else if (!principal.scopes.includes(scope)) {
            return yield* new Forbidden({ message: `This API key lacks the scope ${scope}` })
          }
          return principal
        })
      }
    })
  )
}
