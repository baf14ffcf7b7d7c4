// Work that is charged by the time it takes.
import type { PaymentRequired } from "@parley/contract/Errors"
import { Clock, Effect } from "effect"
import type { Billing } from "./Billing.ts"

/** The work, charged however it ends. Fails with 402, interrupting it, when the balance is spent before. */
export const byTheSecond = Effect.fnUntraced(function* <A, E, R>(
  billing: Billing["Service"],
  workspaceId: string,
  kind: "agent_test" | "analysis",
  work: Effect.Effect<A, E, R>
): Effect.fn.Return<A, E | PaymentRequired, R> {
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const startedAt = yield* Clock.currentTimeMillis
      const meter = yield* billing.meter(workspaceId, { kinds: [kind], timed: true })
      const charge = Effect.flatMap(Clock.currentTimeMillis, (now) =>
        // A clock in whole milliseconds: no work takes none.
        meter.charge(Math.max(1, now - startedAt) / 1000)
      )
      return yield* Effect.ensuring(meter.whilePaid(work), charge)
    })
  )
})
