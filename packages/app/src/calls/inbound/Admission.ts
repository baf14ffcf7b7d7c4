// Who may come in by media signalling, and what their call is: a token lets one person in, once, and whether it is used
// up is said by the session's own state.
import type { Leg } from "@parley/engine/leg/Leg"
import type { AdmitPurpose, LiveKitHandlers } from "@parley/transport/livekit/LiveKitServer"
import { SessionLife, type Tenant } from "@parley/workspace/sessions/SessionLife"
import { Deferred, Effect, Option } from "effect"
import { CallPlans } from "../../plan/CallPlans.ts"
import { JoinTokens } from "./JoinTokens.ts"
import { type Call, type ClaimedCall, Unanswered } from "../Call.ts"
import { Calls } from "../Calls.ts"
import type { NoPlace } from "../NoPlace.ts"

type Admitted = Awaited<ReturnType<LiveKitHandlers["admit"]>>

/** Media flows within this time, which is more than the server allows for it. */
const mediaMs = 60_000
/** The server is done with a call within this time after its leg was closed, ports and sockets included. */
const releaseMs = 2_000

/** Media flows; a call that was given up before it does has no use for it. */
export const bring = (call: Call | undefined, leg: Leg): void => {
  if (call === undefined || call.state === "settled") leg.close("agent_hangup")
  else {
    call.awaitsMedia = false
    Deferred.doneUnsafe(call.leg, Effect.succeed(leg))
  }
}

/** Who may come in: a join takes a place and uses its token up, everything else only asks. */
export const makeAdmission = Effect.fnUntraced(function* (giveUp: (sessionId: string) => void) {
  const calls = yield* Calls
  const life = yield* SessionLife
  const plans = yield* CallPlans
  const tokens = yield* JoinTokens

  const join = Effect.fnUntraced(function* (call: Call, sessionId: string, tenant: Tenant) {
    return yield* calls.start(
      call,
      Effect.map(life.claim(sessionId), (session): ClaimedCall => ({
        ...tenant,
        sessionId,
        plan: plans.planFor(session, call.extraBody),
        leg: (plan) =>
          Effect.andThen(
            Effect.addFinalizer(() => Effect.sync(() => call.awaitsMedia && giveUp(sessionId))),
            mediaOf(call, plan)
          ),
        givenUp: (by) => ({
          reason: by === "broken" ? "internal_error" : by === "displaced" ? "room_join_timeout" : "cancelled"
        }),
        vacated: vacated(call)
      }))
    )
  })

  const admit = Effect.fnUntraced(function* (
    token: string,
    purpose: AdmitPurpose,
    address: string
  ): Effect.fn.Return<Admitted> {
    const claims = yield* tokens.verify(token)
    if (claims === undefined) return refuse(401, "the token is not valid")
    const { identity, sessionId } = claims
    const grant = { sessionId, identity, room: sessionId }
    if (calls.find(sessionId) !== undefined) return purpose === "join" ? refuse(401, used) : grant
    if (claims.expired) return refuse(401, "the token has expired")
    if (purpose === "rejoin") return refuse(404, "the session is not live")
    if (calls.isStopping()) return refuse(503, stopping)
    const pending = yield* life.pending(sessionId)
    if (pending === undefined) return refuse(401, used)
    const { isPublic, ...tenant } = pending
    const who = { sessionId, tenant, awaitsMedia: true, ...(isPublic ? { stranger: { address } } : {}) }
    if (purpose === "validate") return refused(calls.refusal(who)) ?? grant
    const call = calls.permit(who)
    if (call._tag === "NoPlace") return refused(call) ?? grant
    const joined = yield* Effect.option(join(call, sessionId, tenant))
    return Option.isSome(joined) ? grant : refuse(401, used)
  })
  return { admit }
})

/** Both at once: a plan that cannot be made ends the call before anybody waits for its media. */
const mediaOf = (call: Call, plan: Effect.Effect<unknown>): ReturnType<ClaimedCall["leg"]> =>
  Effect.andThen(
    Effect.addFinalizer(() => closed(call)),
    Effect.all([Deferred.await(call.leg), plan], { concurrency: 2 }).pipe(
      Effect.timeoutOrElse({
        duration: mediaMs,
        orElse: () => Effect.fail(new Unanswered({ reason: "internal_error" }))
      }),
      Effect.map(([leg]) => leg)
    )
  )

/** Closing twice is closing once; what has not come is closed when it comes. */
const closed = (call: Call): Effect.Effect<void> =>
  Effect.suspend(() =>
    Deferred.isDoneUnsafe(call.leg)
      ? Effect.ignore(Effect.map(Deferred.await(call.leg), (leg) => leg.close("agent_hangup")))
      : Effect.void
  )

const vacated = (call: Call): Effect.Effect<void> =>
  Effect.suspend(() =>
    Deferred.isDoneUnsafe(call.leg) ? Effect.andThen(closed(call), Deferred.await(call.released)) : Effect.void
  ).pipe(Effect.timeoutOption(releaseMs), Effect.asVoid)

const refused = (noPlace: NoPlace | undefined): Admitted | undefined => {
  if (noPlace === undefined) return undefined
  if (noPlace.reason === "stopping") return refuse(503, stopping)
  return noPlace.reason === "taken" ? refuse(401, used) : refuse(503, "no free place for another call")
}

const used = "the token has been used, or the session is over"
const stopping = "the service is stopping"

const refuse = (status: number, message: string): Admitted => ({ refused: { status, message } })
