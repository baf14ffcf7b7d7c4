// The join point: a person comes in by the media door with a token, the desk claims the session and
// makes its plan, the engine holds the conversation, the record keeps what is told. Each of them knows
// nothing of the others.
import { Conversations } from "@parley/engine/Conversations"
import type { CallPlan } from "@parley/engine/CallPlan"
import type { Leg } from "@parley/engine/ports/Leg"
import { makeLiveKitDoor } from "@parley/transport/livekit/LiveKitDoor"
import { SessionLife } from "@parley/workspace/SessionLife"
import { Effect, Fiber, FiberMap, Layer } from "effect"
import { MediaDoor, signalling } from "../http/MediaDoor.ts"
import { Settings } from "../Settings.ts"
import * as CallMetrics from "../telemetry/CallMetrics.ts"
import * as Admission from "./Admission.ts"
import { CallPlans } from "./CallPlans.ts"
import * as FactSink from "./FactSink.ts"
import { JoinTokens } from "./JoinTokens.ts"
import { LiveCalls } from "./LiveCalls.ts"
import { Recorder } from "./recording/Recorder.ts"

/** At a stop, live calls get this long to say goodbye, and as long again to be stored. */
const drainMs = 1_500

export const layer: Layer.Layer<
  LiveCalls,
  never,
  Conversations | MediaDoor | SessionLife | CallPlans | JoinTokens | Recorder | Settings
> = Layer.effect(
  LiveCalls,
  Effect.gen(function* () {
    const conversations = yield* Conversations
    const life = yield* SessionLife
    const plans = yield* CallPlans
    const media = yield* MediaDoor
    const recorder = yield* Recorder
    const settings = yield* Settings
    const metrics = yield* CallMetrics.make
    const calls = yield* FiberMap.make<string, void, never>()
    const scope = yield* Effect.scope
    const run = Effect.runForkWith(yield* Effect.context<never>())
    const promise = Effect.runPromiseWith(yield* Effect.context<never>())
    const giveUp = (sessionId: string) => life.settle(sessionId, "internal_error", "active")

    const admission = yield* Admission.make({
      tokens: yield* JoinTokens,
      claim: (sessionId) =>
        Effect.flatMap(life.claim(sessionId), (session) =>
          // A plan that cannot be made, because a stored key does not open, must not leave the session active.
          Effect.onError(plans.planFor(session), () => giveUp(sessionId))
        ),
      isOpen: life.isOpen,
      giveUp,
      capacity: conversations.capacity
    })

    const hold = Effect.fnUntraced(function* (plan: CallPlan, leg: Leg) {
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
      yield* giveUp(plan.sessionId)
    })

    const holdRecorded = (plan: CallPlan, leg: Leg) =>
      plan.recordAudio === true
        ? Effect.acquireUseRelease(
            recorder.record(plan.sessionId, leg),
            (recording) => hold(plan, recording.leg),
            ({ finish }) => finish
          )
        : hold(plan, leg)

    const door = makeLiveKitDoor({
      admit: (token, purpose) => promise(admission.admit(token, purpose)),
      onLeg: (sessionId, leg) => {
        const plan = admission.begin(sessionId)
        // Ended through the API before its media flowed.
        if (plan === undefined) return leg.close("agent_hangup")
        metrics.began()
        const over = Effect.sync(() => {
          metrics.ended()
          admission.ended(sessionId)
        })
        run(FiberMap.run(calls, sessionId, Effect.ensuring(holdRecorded(plan, leg), over)))
      },
      onReleased: (sessionId, how) => {
        // Media never flowed: nobody else will say that it is over.
        if (!admission.released(sessionId)) return
        run(life.settle(sessionId, how === "left" ? "user_hangup" : "heartbeat_timeout", "active"))
      },
      ...settings.media
    })
    const bounded = (step: Effect.Effect<unknown>) => Effect.timeoutOption(step, drainMs)
    const drain = Effect.sync(admission.close).pipe(
      Effect.andThen(conversations.drain("agent_hangup", drainMs)),
      Effect.andThen(bounded(FiberMap.awaitEmpty(calls))),
      Effect.andThen(bounded(Effect.promise(() => door.close()))),
      Effect.asVoid
    )
    yield* media.serve({ paths: signalling, upgrade: door.handleUpgrade, validate: door.handleValidate, drain })
    yield* Effect.addFinalizer(() => drain)

    return {
      end: Effect.fn("LiveCalls.end")(function* (sessionId) {
        if (admission.cancel(sessionId)) return false
        const stored = FiberMap.getUnsafe(calls, sessionId)
        if (!(yield* conversations.end(sessionId, "agent_hangup"))) return false
        if (stored._tag === "Some") yield* Effect.timeoutOption(Fiber.await(stored.value), drainMs)
        return true
      }),
      count: Effect.sync(conversations.live),
      draining: Effect.sync(admission.isClosed)
    }
  })
)
