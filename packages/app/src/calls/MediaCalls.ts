// Where calls of browsers come in: a person joins by the media door with a token, the desk claims the session and
// makes its plan, and once media flows the call is held like any other. Door, engine and record know nothing of each
// other.
import { makeLiveKitServer } from "@parley/transport/livekit/LiveKitServer"
import { SessionLife } from "@parley/workspace/sessions/SessionLife"
import { Effect, Layer } from "effect"
import { AppSettings } from "../AppSettings.ts"
import * as Admission from "./Admission.ts"
import { CallPlans } from "../plan/CallPlans.ts"
import { drainMs, HeldCalls } from "./HeldCalls.ts"
import { JoinTokens } from "../sessions/JoinTokens.ts"
import { LiveCalls } from "./LiveCalls.ts"

export const layer: Layer.Layer<LiveCalls, never, HeldCalls | SessionLife | CallPlans | JoinTokens | AppSettings> =
  Layer.effect(
    LiveCalls,
    Effect.gen(function* () {
      const held = yield* HeldCalls
      const life = yield* SessionLife
      const plans = yield* CallPlans
      const settings = yield* AppSettings
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
        capacity: held.capacity,
        elsewhere: () => held.seats.count
      })
      held.seats.countBeside(admission.taken)

      const door = makeLiveKitServer({
        admit: (token, purpose) => promise(admission.admit(token, purpose)),
        onLeg: (sessionId, leg) => {
          const plan = admission.begin(sessionId)
          // Ended through the API before its media flowed.
          if (plan === undefined) return leg.close("agent_hangup")
          held.hold(plan, leg, () => admission.ended(sessionId))
        },
        onReleased: (sessionId, how) => {
          // Media never flowed: nobody else will say that it is over.
          if (!admission.released(sessionId)) return
          run(life.settle(sessionId, how === "left" ? "user_hangup" : "heartbeat_timeout", "active"))
        },
        ...settings.media
      })
      const drain = Effect.sync(admission.close).pipe(
        Effect.andThen(held.drain),
        Effect.andThen(
          Effect.timeoutOption(
            Effect.promise(() => door.close()),
            drainMs
          )
        ),
        Effect.asVoid
      )
      yield* Effect.addFinalizer(() => drain)

      return {
        signalling: { upgrade: door.handleUpgrade, validate: door.handleValidate },
        drain,
        end: Effect.fn("LiveCalls.end")(function* (sessionId) {
          return admission.cancel(sessionId) ? false : yield* held.end(sessionId)
        }),
        giveUp: held.giveUp,
        count: Effect.sync(held.live),
        draining: Effect.sync(admission.isClosed)
      }
    })
  )
