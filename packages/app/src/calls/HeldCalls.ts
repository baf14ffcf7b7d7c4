// Calls that are held: whichever door a leg comes in by, from here on it is a conversation whose facts are stored, whose
// sound is recorded and which counts in the metrics. Telephone calls that still ring are known by how to give them up.
import { Conversations } from "@parley/engine/Conversations"
import type { CallPlan } from "@parley/engine/CallPlan"
import type { Leg } from "@parley/engine/leg/Leg"
import { SessionLife } from "@parley/workspace/sessions/SessionLife"
import { Context, Effect, Fiber, FiberMap, Layer } from "effect"
import * as CallMetrics from "./CallMetrics.ts"
import * as FactSink from "./FactSink.ts"
import { Recorder } from "../recording/Recorder.ts"
import { Seats } from "./Seats.ts"

/** At a stop, live calls get this long to say goodbye, and as long again to be stored. */
export const drainMs = 1_500

export class HeldCalls extends Context.Service<
  HeldCalls,
  {
    /** Of telephone calls, ringing or up. */
    readonly seats: Seats
    readonly capacity: number
    /** Holds the conversation of an active session. `over` is called once, when nothing of it is live any more. */
    readonly hold: (plan: CallPlan, leg: Leg, over: () => void) => void
    /** Asks a live call to end as `agent_hangup` and waits until its facts are stored. False when there is none. */
    readonly end: (sessionId: string) => Effect.Effect<boolean>
    /** A call that rings; the returned function says that it no longer does. */
    readonly rings: (sessionId: string, giveUp: () => void) => () => void
    /** Gives a ringing call up; its record is settled already. */
    readonly giveUp: (sessionId: string) => void
    readonly giveAllUp: () => void
    readonly live: () => number
    /** No new conversations; the live ones say goodbye and are stored. */
    readonly drain: Effect.Effect<void>
  }
>()("@parley/app/HeldCalls") {
  static readonly layer: Layer.Layer<HeldCalls, never, Conversations | Recorder | SessionLife> = Layer.effect(
    HeldCalls,
    Effect.gen(function* () {
      const conversations = yield* Conversations
      const life = yield* SessionLife
      const recorder = yield* Recorder
      const metrics = yield* CallMetrics.make
      const calls = yield* FiberMap.make<string, void, never>()
      const ringing = new Map<string, () => void>()
      const scope = yield* Effect.scope
      const run = Effect.runForkWith(yield* Effect.context<never>())

      const converse = Effect.fnUntraced(function* (plan: CallPlan, leg: Leg) {
        const sink = yield* FactSink.make((facts) => life.record(plan.sessionId, facts))
        const remember: typeof sink.remember = (fact) => {
          sink.remember(fact)
          metrics.remember(fact)
        }
        const over = yield* Effect.option(conversations.start({ plan, leg, remember }))
        if (over._tag === "Some") {
          yield* sink.drain
          // Neither the seat nor the end of the session waits for what outlives the call.
          return yield* Effect.asVoid(Effect.forkIn(sink.rest, scope))
        }
        leg.close("internal_error")
        yield* life.settle(plan.sessionId, "internal_error", "active")
      })

      const recorded = (plan: CallPlan, leg: Leg) =>
        plan.recordAudio === true
          ? Effect.acquireUseRelease(
              recorder.record(plan.sessionId, leg),
              (recording) => converse(plan, recording.leg),
              ({ finish }) => finish
            )
          : converse(plan, leg)

      return {
        seats: new Seats(conversations.capacity),
        capacity: conversations.capacity,
        hold: (plan, leg, over) => {
          metrics.began()
          const ended = Effect.sync(() => {
            metrics.ended()
            over()
          })
          run(FiberMap.run(calls, plan.sessionId, Effect.ensuring(recorded(plan, leg), ended)))
        },
        end: Effect.fnUntraced(function* (sessionId) {
          const stored = FiberMap.getUnsafe(calls, sessionId)
          if (!(yield* conversations.end(sessionId, "agent_hangup"))) return false
          if (stored._tag === "Some") yield* Effect.timeoutOption(Fiber.await(stored.value), drainMs)
          return true
        }),
        rings: (sessionId, giveUp) => {
          ringing.set(sessionId, giveUp)
          return () => void ringing.delete(sessionId)
        },
        giveUp: (sessionId) => ringing.get(sessionId)?.(),
        giveAllUp: () => {
          for (const giveUp of ringing.values()) giveUp()
        },
        live: conversations.live,
        drain: Effect.andThen(
          conversations.drain("agent_hangup", drainMs),
          Effect.asVoid(Effect.timeoutOption(FiberMap.awaitEmpty(calls), drainMs))
        )
      }
    })
  )
}
