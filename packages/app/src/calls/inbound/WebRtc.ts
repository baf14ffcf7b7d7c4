// Calls of browsers: somebody joins by media signalling with a token, and once media flows there is a leg. A token lets
// one person in, once; that it is used up is said by the session's own state.
import type { EndReason } from "@parley/contract/EndReason"
import { type LiveKitServer, makeLiveKitServer } from "@parley/transport/livekit/LiveKitServer"
import type { SessionLife } from "@parley/workspace/sessions/SessionLife"
import { Context, Deferred, Effect, Layer } from "effect"
import { AppSettings } from "../../AppSettings.ts"
import type { CallPlans } from "../../plan/CallPlans.ts"
import type { JoinTokens } from "./JoinTokens.ts"
import { Unanswered } from "../Call.ts"
import { Calls } from "../Calls.ts"
import { bring, makeAdmission } from "./Admission.ts"

/** Sockets and ports are free by then. */
const closeMs = 1_500

export class WebRtcCalls extends Context.Service<
  WebRtcCalls,
  {
    /** Handlers of media signalling, for whoever has the HTTP server. */
    readonly upgrade: LiveKitServer["handleUpgrade"]
    readonly validate: LiveKitServer["handleValidate"]
    /** All calls are ended and stored, then signalling is closed. Happens once. */
    readonly drain: Effect.Effect<void>
  }
>()("@parley/app/WebRtcCalls") {
  static readonly layer: Layer.Layer<WebRtcCalls, never, AppSettings | CallPlans | Calls | JoinTokens | SessionLife> =
    Layer.effect(
      WebRtcCalls,
      Effect.gen(function* () {
        const { media } = yield* AppSettings
        const calls = yield* Calls
        const { admit } = yield* makeAdmission((sessionId) => server.turnAway(sessionId))
        const promise = Effect.runPromiseWith(yield* Effect.context<never>())
        const server: LiveKitServer = makeLiveKitServer({
          handlers: {
            admit: (token, purpose, address) => promise(admit(token, purpose, address)),
            onSignalling: (sessionId, isThere) => {
              const call = calls.find(sessionId)
              if (call !== undefined) call.isAway = !isThere
            },
            onLeg: (sessionId, leg) => bring(calls.find(sessionId), leg),
            onReleased: (sessionId, how) => {
              const call = calls.find(sessionId)
              if (call === undefined) return
              Deferred.doneUnsafe(call.leg, Effect.fail(new Unanswered({ reason: goneReason(how) })))
              Deferred.doneUnsafe(call.released, Effect.void)
            }
          },
          media
        })
        const close = Effect.asVoid(
          Effect.timeoutOption(
            Effect.promise(() => server.close()),
            closeMs
          )
        )
        const drain = yield* Effect.cached(Effect.andThen(calls.drain, close))
        yield* Effect.addFinalizer(() => drain)
        return { upgrade: server.handleUpgrade, validate: server.handleValidate, drain }
      })
    )
}

/** Why a session is over whose media never flowed. */
const goneReason = (how: "left" | "lost" | "failed" | "closed"): EndReason =>
  how === "left" || how === "closed" ? "cancelled" : "room_join_timeout"
