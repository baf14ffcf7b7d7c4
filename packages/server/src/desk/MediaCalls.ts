// The join point: a person comes in by the media door with a token, the desk claims the session and
// makes its plan, the engine holds the conversation, the record keeps what is told. Each of them knows
// nothing of the others.
import { Conversations } from "@parley/engine/Conversations"
import type { CallPlan } from "@parley/engine/CallPlan"
import type { Leg } from "@parley/engine/ports/Leg"
import { makeLiveKitDoor } from "@parley/transport/livekit/LiveKitDoor"
import type { AdmitPurpose, LiveKitDoorOptions } from "@parley/transport/livekit/LiveKitDoor"
import { SessionLife } from "@parley/workspace/SessionLife"
import { Effect, Fiber, FiberMap, Layer } from "effect"
import { MediaDoor } from "../http/MediaDoor.ts"
import { Settings } from "../Settings.ts"
import { CallPlans } from "./CallPlans.ts"
import * as FactSink from "./FactSink.ts"
import { JoinTokens } from "./JoinTokens.ts"
import { LiveCalls } from "./LiveCalls.ts"

type Admission = Awaited<ReturnType<LiveKitDoorOptions["admit"]>>

/** At a stop, live calls get this long to say goodbye, and as long again to be stored. */
const drainMs = 1_500

export const layer: Layer.Layer<
  LiveCalls,
  never,
  Conversations | MediaDoor | SessionLife | CallPlans | JoinTokens | Settings
> = Layer.effect(
  LiveCalls,
  Effect.gen(function* () {
    const conversations = yield* Conversations
    const life = yield* SessionLife
    const plans = yield* CallPlans
    const tokens = yield* JoinTokens
    const media = yield* MediaDoor
    const settings = yield* Settings
    const calls = yield* FiberMap.make<string, void, never>()
    /** Claimed, waiting for their media to flow. */
    const claimed = new Map<string, CallPlan>()
    const run = Effect.runForkWith(yield* Effect.context<never>())
    const promise = Effect.runPromiseWith(yield* Effect.context<never>())

    const admit = Effect.fnUntraced(function* (token: string, purpose: AdmitPurpose): Effect.fn.Return<Admission> {
      const claims = tokens.verify(token)
      if (claims === undefined) return refuse(401, "the token is not valid")
      const { identity, sessionId } = claims
      const live = claimed.has(sessionId) || FiberMap.hasUnsafe(calls, sessionId)
      const seat = { sessionId, identity, room: sessionId }
      if (live && purpose !== "join") return seat
      if (claims.expired) return refuse(401, "the token has expired")
      if (purpose === "validate") return seat
      if (purpose === "rejoin") return refuse(404, "the session is not live")
      if (conversations.live() >= conversations.capacity) return refuse(503, "no free place for another call")
      const session = yield* Effect.option(life.claim(sessionId))
      if (session._tag === "None") return refuse(401, "the token has been used, or the session is over")
      claimed.set(sessionId, plans.planFor(session.value))
      return seat
    })

    const hold = Effect.fnUntraced(function* (plan: CallPlan, leg: Leg) {
      const sink = yield* FactSink.make((facts) => life.record(plan.sessionId, facts))
      const over = yield* Effect.option(conversations.start({ plan, leg, remember: sink.remember }))
      if (over._tag === "Some") return yield* sink.drain
      leg.close("internal_error")
      yield* life.settle(plan.sessionId, "internal_error")
    })

    const door = makeLiveKitDoor({
      admit: (token, purpose) => promise(admit(token, purpose)),
      onLeg: (sessionId, leg) => {
        const plan = claimed.get(sessionId)
        claimed.delete(sessionId)
        if (plan === undefined) return leg.close("internal_error")
        run(FiberMap.run(calls, sessionId, hold(plan, leg)))
      },
      onReleased: (sessionId, how) => {
        // Media never flowed: nobody else will say that it is over.
        if (!claimed.delete(sessionId)) return
        run(life.settle(sessionId, how === "left" ? "user_hangup" : "heartbeat_timeout", "active"))
      },
      maxSessions: conversations.capacity,
      ...settings.media
    })
    const bounded = (step: Effect.Effect<unknown>) => Effect.timeoutOption(step, drainMs)
    const drain = conversations
      .drain("agent_hangup", drainMs)
      .pipe(
        Effect.andThen(bounded(FiberMap.awaitEmpty(calls))),
        Effect.andThen(bounded(Effect.promise(() => door.close()))),
        Effect.asVoid
      )
    yield* media.serve({ upgrade: door.handleUpgrade, validate: door.handleValidate, drain })
    yield* Effect.addFinalizer(() => drain)

    return {
      end: Effect.fn("LiveCalls.end")(function* (sessionId) {
        const stored = FiberMap.getUnsafe(calls, sessionId)
        if (!(yield* conversations.end(sessionId, "agent_hangup"))) return false
        if (stored._tag === "Some") yield* Effect.timeoutOption(Fiber.await(stored.value), drainMs)
        return true
      }),
      count: Effect.sync(conversations.live)
    }
  })
)

const refuse = (status: number, message: string): Admission => ({ refused: { status, message } })
