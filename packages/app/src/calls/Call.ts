// One live call, from the permit to the settled record: the same program whichever way its leg is got (`inbound/WebRtc`,
// `inbound/Sip`, `Outbound`). Its scope is its life: what fails, is given up or is stopped closes it, and the record is
// settled once, because every settlement is one conditional update.
import type { EndReason } from "@parley/contract/EndReason"
import type { Fact } from "@parley/contract/Fact"
import type { CallPlan } from "@parley/engine/CallPlan"
import * as Conversation from "@parley/engine/Conversation"
import type { Leg } from "@parley/engine/leg/Leg"
import type { Pacer } from "@parley/engine/playout/Pacer"
import type { CallParts } from "@parley/engine/ports/CallParts"
import type { Billing } from "@parley/workspace/billing/Billing"
import type { FailedDial } from "@parley/workspace/sessions/SessionEnding"
import type { SessionLife, Tenant } from "@parley/workspace/sessions/SessionLife"
import { Cause, Data, Deferred, Effect, Exit, Fiber, type Scope } from "effect"
import type { ExtraBody } from "../plan/callPlan.ts"
import type { Recorder } from "../recording/Recorder.ts"
import type { CallMetrics } from "./CallMetrics.ts"
import * as FactSink from "./FactSink.ts"

/**
 * Where a call stands: it has a place (`permitted`) and gets its session (`claiming`); its leg is awaited, ringing or
 * without media yet (`connecting`); people talk (`talking`); its record is settled, what is left is released (`settled`).
 */
export type CallState = "permitted" | "claiming" | "connecting" | "talking" | "settled"

/**
 * Who gave a call up before it was over: the API, the service that stops, or a newcomer who has its place. `broken`: a
 * defect.
 */
export type GivenUp = "ended" | "stopped" | "displaced" | "broken"

/** Somebody who comes without a key of the workspace: a visitor of a public agent, a caller by telephone. */
export interface Stranger {
  /** Of a visitor: the IP address, or the prefix that counts as one. */
  readonly address?: string
}

/** How a session ends that was never talked in. `dial`: for calls we placed. */
export interface UnansweredEnd {
  readonly reason: EndReason
  /** Of a session that had become active; as `reason` when left out. */
  readonly active?: EndReason
  readonly dial?: FailedDial
}

/** There will be no leg: nobody came, took the call, or stayed. */
export class Unanswered extends Data.TaggedError("Unanswered")<UnansweredEnd> {}

/** What differs by the way a call begins, once the session is this process's own. */
export interface ClaimedCall extends Tenant {
  readonly sessionId: string
  /** By telephone, which is charged besides the agent. */
  readonly isPhone?: true
  /** Made at once, while the leg is awaited. */
  readonly plan: Effect.Effect<CallPlan>
  /** Succeeds once media may flow. Interrupted, it gives the other side up. The leg is closed with the scope. */
  readonly leg: (plan: Effect.Effect<CallPlan>) => Effect.Effect<Leg, Unanswered, Scope.Scope>
  readonly givenUp: (by: GivenUp) => UnansweredEnd
  /** Once the record is settled, outliving the call's place: what is kept beside it. */
  readonly afterwards?: Effect.Effect<void>
  /** The server that brought the leg has released it, or takes too long: the place may be another's. */
  readonly vacated?: Effect.Effect<void>
}

/** A call as the registry knows it. */
export class Call {
  readonly _tag = "Call"
  state: CallState = "permitted"
  sessionId: string | undefined
  tenant: Tenant | undefined
  /** The session's `llm_extra_body`. */
  extraBody: ExtraBody | undefined
  /** Of a leg that comes by itself (WebRTC): there, or never; and gone again. */
  readonly leg = Deferred.makeUnsafe<Leg, Unanswered>()
  readonly released = Deferred.makeUnsafe<void>()
  readonly endAsked = Deferred.makeUnsafe<EndReason>()
  readonly #settled = Deferred.makeUnsafe<void>()
  readonly stranger: Stranger | undefined
  /** When it came, in milliseconds of the clock of the places. */
  readonly sinceMs: number
  /** Its place is held for media that does not flow yet. */
  awaitsMedia: boolean
  /** Its signalling socket was cut. */
  isAway = false
  #endedBy: Exclude<GivenUp, "broken"> | undefined

  constructor(
    who: {
      readonly sessionId?: string | undefined
      readonly tenant?: Tenant | undefined
      readonly stranger?: Stranger | undefined
      readonly awaitsMedia?: boolean | undefined
    },
    sinceMs: number
  ) {
    this.sessionId = who.sessionId
    this.tenant = who.tenant
    this.stranger = who.stranger
    this.awaitsMedia = who.awaitsMedia ?? false
    this.sinceMs = sinceMs
  }

  /** Asks it to end; what that means depends on where it stands. The first who asks counts. */
  end(by: Exclude<GivenUp, "broken">): void {
    this.#endedBy ??= by
    Deferred.doneUnsafe(this.endAsked, Effect.succeed<EndReason>("agent_hangup"))
  }

  get endedBy(): Exclude<GivenUp, "broken"> | undefined {
    return this.#endedBy
  }

  /** Its record is settled, or it never had one. */
  settled(): void {
    this.state = "settled"
    Deferred.doneUnsafe(this.#settled, Effect.void)
  }

  get isSettled(): Effect.Effect<void> {
    return Deferred.await(this.#settled)
  }
}

/** What a call stands on. */
export interface CallServices {
  readonly life: Pick<SessionLife["Service"], "record" | "settle">
  readonly recorder: Pick<Recorder["Service"], "record">
  readonly metrics: CallMetrics
  readonly billing: Pick<Billing["Service"], "meter">
  /** For what outlives the call's place: tools, recordings, traces. */
  readonly outliving: Scope.Scope
}

/**
 * Ends when nothing of the call is left and its place may be another's. Fails only with what `claim` fails with: then
 * there is no record.
 */
export const run = Effect.fnUntraced(function* <E>(
  call: Call,
  claim: Effect.Effect<ClaimedCall, E>,
  services: CallServices
): Effect.fn.Return<void, E, CallParts | Pacer> {
  call.state = "claiming"
  const claimed = yield* claim
  call.state = "connecting"
  yield* converse(call, claimed, services).pipe(
    Effect.scoped,
    Effect.onExit((exit) => settle(call, claimed, services, exit)),
    Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.void)),
    Effect.ensuring(claimed.vacated ?? Effect.void)
  )
})

const converse = Effect.fnUntraced(function* (call: Call, claimed: ClaimedCall, services: CallServices) {
  const { life, metrics, outliving } = services
  const planning = yield* Effect.forkScoped(claimed.plan)
  const connected = yield* connect(call, claimed, Fiber.join(planning))
  if (connected === undefined) return
  const { plan } = connected
  const leg = yield* recorded(plan, connected.leg, services)
  call.state = "talking"
  yield* counted(metrics)
  const facts = yield* FactSink.make((batch) => life.record(claimed.sessionId, batch))
  const remember = (fact: Fact): void => {
    facts.remember(fact)
    metrics.remember(fact)
  }
  const storing = yield* Effect.forkScoped(facts.drain)
  yield* Effect.forkScoped(endUnpaid(call, claimed, services, remember))
  yield* Conversation.run({ plan, leg, remember, endAsked: call.endAsked, outliving })
  yield* Fiber.join(storing)
  call.settled()
  // Tools that outlive the call tell their results; neither the place nor the end of the session waits for them.
  yield* Effect.forkIn(facts.rest, outliving)
})

/** The leg and the plan; undefined when the call is given up first. */
const connect = (call: Call, claimed: ClaimedCall, plan: Effect.Effect<CallPlan>) =>
  claimed.leg(plan).pipe(
    Effect.flatMap((leg) => Effect.map(plan, (made) => ({ leg, plan: made }))),
    Effect.raceFirst(Effect.as(Deferred.await(call.endAsked), undefined))
  )

/** The leg whose both sides are put on record, where the plan asks for it. */
const recorded = (plan: CallPlan, leg: Leg, { recorder }: CallServices) =>
  plan.recordAudio === true
    ? Effect.map(
        Effect.acquireRelease(recorder.record(plan.sessionId, leg), ({ finish }) => finish),
        (recording) => recording.leg
      )
    : Effect.succeed(leg)

/** Meters the call, and ends it once the balance is spent. Its end is what charges it. */
const endUnpaid = (
  call: Call,
  { isPhone, sessionId, workspaceId }: ClaimedCall,
  { billing }: CallServices,
  remember: (fact: Fact) => void
) =>
  Effect.clockWith((clock) => {
    const sinceMs = clock.currentTimeMillisUnsafe()
    const kinds = isPhone === true ? (["agent", "phone"] as const) : (["agent"] as const)
    return billing.meter(workspaceId, { kinds, timed: true, session: sessionId }).pipe(
      Effect.flatMap(({ spent }) => spent),
      Effect.catch(() =>
        Effect.sync(() => {
          const at_ms = Math.round(clock.currentTimeMillisUnsafe() - sinceMs)
          remember({ _tag: "Journaled", entry: { at_ms, kind: "note", name: "balance_spent", data: {} } })
          call.end("ended")
        })
      ),
      // Its end is charged all the same.
      Effect.catchDefect((defect) => Effect.logError("A call runs without a meter", defect))
    )
  })

const counted = (metrics: CallMetrics) =>
  Effect.acquireRelease(Effect.sync(metrics.began), () => Effect.sync(metrics.ended))

/** A call whose facts were not stored to their end: nobody talked in it, or it broke. */
const settle = Effect.fnUntraced(function* (
  call: Call,
  claimed: ClaimedCall,
  { life, outliving }: CallServices,
  exit: Exit.Exit<void, Unanswered>
) {
  if (call.state !== "settled") {
    const { active, dial, reason } = unansweredEnd(call, claimed, exit)
    yield* Effect.andThen(
      life.settle(claimed.sessionId, reason, "pending", dial),
      life.settle(claimed.sessionId, active, "active")
    ).pipe(
      // A database that is away: what a process leaves open is settled by the next one.
      Effect.catchCause((cause) => Effect.logError("A session could not be settled and is left open", cause))
    )
    if (Exit.isFailure(exit) && isDefect(exit.cause)) yield* Effect.logError("A call ended by a defect", exit.cause)
    call.settled()
  }
  if (claimed.afterwards !== undefined) yield* Effect.forkIn(claimed.afterwards, outliving)
})

const unansweredEnd = (call: Call, claimed: ClaimedCall, exit: Exit.Exit<void, Unanswered>) => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  if (error instanceof Unanswered) return { dial: error.dial, reason: error.reason, active: error.reason }
  const by = call.endedBy ?? "broken"
  const end = claimed.givenUp(by)
  return { ...end, active: by === "broken" ? ("internal_error" as const) : (end.active ?? end.reason) }
}

const isDefect = (cause: Cause.Cause<unknown>): boolean =>
  !Cause.hasInterruptsOnly(cause) && !(Cause.squash(cause) instanceof Unanswered)
