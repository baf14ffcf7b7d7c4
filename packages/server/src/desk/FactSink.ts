// Where a call's facts go on their way to the record: gathered while the last batch is being stored, so a
// busy call makes few transactions and its media thread none. In order; a batch that fails is tried again for the
// better part of a minute and then given up, but the end of the call is told until it is stored. Failures are
// logged without their cause, which may quote what was said.
import type { Fact } from "@parley/contract/Fact"
import { Effect, Queue, Schedule } from "effect"

/** Facts gather for this long before they are stored; the end of a call is stored at once. */
const gatherMs = 250
const retry = Schedule.exponential("200 millis")
const retryTimes = 8
const endRetry = Schedule.spaced("5 seconds")

export interface FactSink {
  readonly remember: (fact: Fact) => void
  /** Stores until `CallEnded` is stored. */
  readonly drain: Effect.Effect<void>
}

export const make = (store: (facts: ReadonlyArray<Fact>) => Effect.Effect<void>): Effect.Effect<FactSink> =>
  Effect.map(Queue.unbounded<Fact>(), (queue) => {
    const drain = Effect.gen(function* () {
      for (let over = false; !over;) {
        const first = yield* Queue.take(queue)
        if (first._tag !== "CallEnded") yield* Effect.sleep(gatherMs)
        const facts = [first, ...(yield* Queue.clear(queue))]
        const end = facts.find((fact) => fact._tag === "CallEnded")
        yield* Effect.sandbox(store(facts)).pipe(
          Effect.retry({ schedule: retry, times: retryTimes }),
          Effect.catch(() =>
            Effect.andThen(
              Effect.logError("Facts of a call could not be stored", { facts: facts.length }),
              end === undefined
                ? Effect.void
                : Effect.sandbox(store([end])).pipe(Effect.retry({ schedule: endRetry }), Effect.ignore)
            )
          )
        )
        over = end !== undefined
      }
    })
    return { remember: (fact) => void Queue.offerUnsafe(queue, fact), drain }
  })
