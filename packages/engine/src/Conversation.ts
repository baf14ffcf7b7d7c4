// One conversation, for whoever has a leg and a plan: held to its end whatever happens in it. Its owner counts places,
// keeps registers and decides when the service stops.
import { Cause, Effect, Exit } from "effect"
import type { EndReason } from "@parley/contract/EndReason"
import * as Ending from "./Ending.ts"
import type { Pacer } from "./playout/Pacer.ts"
import type { CallParts } from "./ports/CallParts.ts"
import * as Session from "./Session.ts"

/** `endAsked` ends the call from outside; `outliving` is closed by the owner after the calls. */
export type ConversationOptions = Session.SessionOptions

/**
 * Holds the conversation and closes its leg; returns why it ended. Never fails: a defect is logged and ends this
 * conversation, and no other, as `internal_error`. One that is interrupted has ended as `internal_error`, too, before
 * the interruption is done. However it ends, `remember` is told of one `CallEnded`, after the result of every tool
 * that ends with the call, and the leg is closed once.
 */
export const run = (options: ConversationOptions): Effect.Effect<EndReason, never, CallParts | Pacer> =>
  Effect.uninterruptibleMask((restore) => {
    const ending = Ending.make(options)
    return restore(Session.run(options, ending)).pipe(
      Effect.exit,
      Effect.flatMap((exit) => {
        if (Exit.isSuccess(exit)) return Effect.succeed(exit.value)
        const end = ending("internal_error")
        return Cause.hasInterruptsOnly(exit.cause)
          ? end
          : Effect.andThen(Effect.logError("a call ended by a defect", Cause.pretty(exit.cause)), end)
      })
    )
  })
