// The live calls of this process: the only register of them, by session, and the only count of places. Whoever ends,
// watches or drains calls comes here. Draining closes the scope that all calls live in.
import type { CallParts } from "@parley/engine/ports/CallParts"
import type { Pacer } from "@parley/engine/playout/Pacer"
import { Billing } from "@parley/workspace/billing/Billing"
import { SessionLife, type Tenant } from "@parley/workspace/sessions/SessionLife"
import type { ExtraBody } from "../plan/callPlan.ts"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Clock, Context, Deferred, Effect, Exit, Layer, Schedule, Scope } from "effect"
import { AppSettings } from "../AppSettings.ts"
import { Recorder } from "../recording/Recorder.ts"
import { type Call, type ClaimedCall, type CallServices, run } from "./Call.ts"
import { type CallLimits, limitsOf } from "./callLimits.ts"
import * as CallMetrics from "./CallMetrics.ts"
import { ExpectedSessions } from "./ExpectedSessions.ts"
import { NoPlace } from "./NoPlace.ts"
import { type Newcomer, Places } from "./Places.ts"

/** When the service stops, a live call gets this long to end by itself and to be stored. */
const drainMs = 3_000
/** Longest wait of whoever ends a call for its record. */
const endMs = 10_000
/** A new workspace has its part of the places after this time. */
const countMs = 30_000

export class Calls extends Context.Service<
  Calls,
  {
    /** A place, taken before this returns, or why there is none. It is free again when the call was run, or left. */
    readonly permit: (who: Newcomer) => Call | NoPlace
    /** Why there would be no place now; nothing is taken. */
    readonly refusal: (who: Newcomer) => NoPlace | undefined
    /** What waits in memory for the one who joins this session: it is never stored, and forgotten by a restart. */
    readonly expect: (sessionId: string, extraBody: ExtraBody) => void
    /** Gives a permitted call its tenant, where that is known later. False when the tenant has no place for it. */
    readonly assign: (call: Call, tenant: Tenant) => boolean
    /**
     * Runs a permitted call by itself. Returns when its session is claimed, or fails as `claim` does: the place is free.
     * Interrupted when the service stops before that.
     */
    readonly start: <E>(call: Call, claim: Effect.Effect<ClaimedCall, E>) => Effect.Effect<void, E>
    /** The place of a permitted call that was not started. */
    readonly leave: (call: Call) => void
    /** The live call of a session, from its permit until its place is free. */
    readonly find: (sessionId: string) => Call | undefined
    /** Asks a call to end, ringing or up, and waits until its record is settled. False when this process has none. */
    readonly end: (sessionId: string) => Effect.Effect<boolean>
    /** Places that are taken, by calls in any state. */
    readonly taken: () => number
    readonly isStopping: () => boolean
    /** No further calls; those that ring are given up, those that are up are ended as `agent_hangup` and stored. Happens once. */
    readonly drain: Effect.Effect<void>
  }
>()("@parley/app/Calls") {
  static readonly layer: Layer.Layer<
    Calls,
    never,
    AppSettings | Billing | CallParts | Pacer | Recorder | SessionLife | Workspaces
  > = Layer.effect(
    Calls,
    Effect.gen(function* () {
      const { limits } = yield* AppSettings
      const services = {
        life: yield* SessionLife,
        recorder: yield* Recorder,
        metrics: yield* CallMetrics.make,
        billing: yield* Billing,
        outliving: yield* Effect.scope
      }
      const workspaces = yield* countWorkspaces
      return yield* make(limitsOf(limits, workspaces), services)
    })
  )
}

/** How many workspaces there are, looked at now and then. */
const countWorkspaces = Effect.gen(function* () {
  const { count } = yield* Workspaces
  let known = yield* count
  const look = Effect.map(count, (found) => {
    known = found
  })
  yield* Effect.forkScoped(Effect.schedule(Effect.ignoreCause(look), Schedule.spaced(countMs)))
  return () => known
})

export const make = Effect.fnUntraced(function* (
  limits: CallLimits,
  services: CallServices
): Effect.fn.Return<Calls["Service"], never, CallParts | Pacer | Scope.Scope> {
  const context = yield* Effect.context<CallParts | Pacer>()
  const clock = yield* Clock.Clock
  const places = new Places(limits, () => clock.currentTimeMillisUnsafe())
  const expected = new ExpectedSessions()
  // Closed in this order: every call is asked to end, then what is still running is interrupted.
  const scope = yield* Scope.make()
  const fibers = Scope.forkUnsafe(scope, "parallel")
  yield* Scope.addFinalizer(
    scope,
    Effect.suspend(() => Effect.forEach(places.all(), endInTime, { concurrency: "unbounded", discard: true }))
  )
  let stopping = false
  const drain = yield* Effect.cached(
    Effect.suspend(() => {
      stopping = true
      return Scope.close(scope, Exit.void)
    })
  )
  yield* Effect.addFinalizer(() => drain)

  const leave = (call: Call): void => {
    places.leave(call)
    call.settled()
  }

  const start = Effect.fnUntraced(function* <E>(call: Call, claim: Effect.Effect<ClaimedCall, E>) {
    const claimed = Deferred.makeUnsafe<void, E>()
    const telling = claim.pipe(
      Effect.tap(({ sessionId }) => Effect.sync(() => places.name(call, sessionId))),
      Effect.onExit((exit) => Effect.sync(() => Deferred.doneUnsafe(claimed, Exit.asVoid(exit))))
    )
    const running = run(call, telling, services).pipe(
      Effect.provide(context),
      // What it fails with is told to whoever started it.
      Effect.exit
    )
    const fiber = yield* Effect.forkIn(running, fibers, { startImmediately: true })
    // Not a finalizer of the call: when the service stopped after the permit, the fiber ends without having begun.
    fiber.addObserver(() => {
      leave(call)
      Deferred.doneUnsafe(claimed, Exit.interrupt())
    })
    return yield* Deferred.await(claimed)
  })

  return {
    refusal: (who) => (stopping ? new NoPlace({ reason: "stopping" }) : places.refusal(who)),
    permit: (who) => {
      if (stopping) return new NoPlace({ reason: "stopping" })
      const call = places.take(who)
      if (call._tag === "Call" && who.sessionId !== undefined) call.extraBody = expected.take(who.sessionId)
      return call
    },
    expect: (sessionId, extraBody) => expected.keep(sessionId, extraBody),
    assign: (call, tenant) => places.assign(call, tenant),
    start,
    leave,
    find: (sessionId) => places.find(sessionId),
    end: Effect.fn("Calls.end")(function* (sessionId) {
      const call = places.find(sessionId)
      if (call === undefined) return false
      call.end("ended")
      yield* Effect.timeoutOption(call.isSettled, endMs)
      return true
    }),
    taken: () => places.size,
    isStopping: () => stopping,
    drain
  }
})

const endInTime = (call: Call): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (call.state === "permitted" || call.state === "settled") return Effect.void
    call.end("stopped")
    return Effect.asVoid(Effect.timeoutOption(call.isSettled, drainMs))
  })
