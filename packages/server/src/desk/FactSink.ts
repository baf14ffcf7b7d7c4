// Where a call's facts go on their way to the record: gathered while the last batch is being stored, so a
// busy call makes few transactions and its media thread none. In order; nothing told is lost while the
// database answers, and a batch that fails is tried again.
import type { Fact } from "@parley/contract/Fact"
import { Effect, Queue, Schedule } from "effect"

/** Facts gather for this long before they are stored; the end of a call is stored at once. */
const gatherMs = 250
const retry = Schedule.exponential("200 millis")

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
        const rest = yield* Queue.clear(queue)
        const facts = [first, ...rest]
        yield* Effect.sandbox(store(facts)).pipe(
          Effect.retry({ schedule: retry, times: 8 }),
          Effect.ignore({ log: "Error" })
        )
        over = facts.some((fact) => fact._tag === "CallEnded")
      }
    })
    return { remember: (fact) => void Queue.offerUnsafe(queue, fact), drain }
  })
