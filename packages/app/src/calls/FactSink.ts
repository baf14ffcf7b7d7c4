// Where a call's facts go on their way to the record: gathered while the last batch is being stored, so a
// busy call makes few transactions and its media thread none. In order; a batch that fails is tried again for the
// better part of a minute and then given up, but the end of the call is told until it is stored. Tools that outlive
// their call are waited for. Failures are logged without their cause, which may quote what was said.
import type { Fact } from "@parley/contract/Fact"
import type { SessionItem } from "@parley/contract/SessionItem"
import { Clock, Effect, Queue, Schedule } from "effect"

/** Facts gather for this long before they are stored; the end of a call is stored at once. */
const gatherMs = 250
const retry = Schedule.exponential("200 millis")
const retryTimes = 8
const endRetry = Schedule.spaced("5 seconds")
/** Longer than any tool's time-out. */
const restMs = 330_000
const stopMs = 1_000

export interface FactSink {
  readonly remember: (fact: Fact) => void
  /** Stores until `CallEnded` is stored. */
  readonly drain: Effect.Effect<void>
  /** After that: stores until every tool that was called has a result. Interrupted, it says so of those that have none. */
  readonly rest: Effect.Effect<void>
}

export const make = (store: (facts: ReadonlyArray<Fact>) => Effect.Effect<void>): Effect.Effect<FactSink> =>
  Effect.map(Queue.unbounded<Fact>(), (queue) => {
    /** Tool calls without a result among those that were stored or tried. */
    const open = new Map<string, Extract<SessionItem, { type: "tool_call" }>>()
    const storeNext = Effect.gen(function* () {
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
      for (const fact of facts) {
        if (fact._tag !== "ItemRecorded") continue
        if (fact.item.type === "tool_call") open.set(fact.item.call_id, fact.item)
        if (fact.item.type === "tool_result") open.delete(fact.item.call_id)
      }
      return end !== undefined
    })
    return {
      remember: (fact) => void Queue.offerUnsafe(queue, fact),
      drain: Effect.gen(function* () {
        while (!(yield* storeNext));
      }),
      rest: Effect.gen(function* () {
        while (open.size > 0) yield* storeNext
      }).pipe(
        Effect.timeoutOption(restMs),
        Effect.onInterrupt(() =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            Effect.ignore(Effect.timeoutOption(Effect.sandbox(store([...open.values()].map(givenUp(now)))), stopMs))
          )
        ),
        Effect.asVoid
      )
    }
  })

const givenUp =
  (now: number) =>
  ({ call_id, created_at, tool_name, tool_source, turn_id }: Extract<SessionItem, { type: "tool_call" }>): Fact => ({
    _tag: "ItemRecorded",
    item: {
      type: "tool_result",
      call_id,
      tool_name,
      tool_source,
      turn_id,
      status: "failed",
      output: null,
      output_truncated: false,
      error: "cancelled: the service stopped",
      latency_ms: Math.max(0, now - Date.parse(created_at)),
      created_at: new Date(now).toISOString()
    }
  })
