// One conversation, for whoever has a leg and a plan: held to its end whatever happens in it. Its owner counts places,
// keeps registers and decides when the service stops.
import { Cause, Effect } from "effect"
import type { EndReason } from "@parley/contract/EndReason"
import type { Pacer } from "./playout/Pacer.ts"
import type { CallParts } from "./ports/CallParts.ts"
import * as Session from "./Session.ts"

export type ConversationOptions = Session.SessionOptions

/**
 * Holds the conversation and closes its leg; returns why it ended. Never fails: a defect is logged, told as `CallEnded`
 * with `internal_error`, and that reason returned. Interrupting it ends it as `internal_error`.
 */
export const run = (options: ConversationOptions): Effect.Effect<EndReason, never, CallParts | Pacer> =>
  Session.run(options).pipe(
    Effect.catchCause((cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.succeed<EndReason>("internal_error")
      return Effect.logError("a call could not start", cause).pipe(
        Effect.map((): EndReason => {
          options.remember({ _tag: "CallEnded", reason: "internal_error", at: new Date().toISOString() })
          options.leg.close("internal_error")
          return "internal_error"
        })
      )
    })
  )
