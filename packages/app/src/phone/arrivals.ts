// A call that rings at one of our numbers. Refused at once, busy, when nobody answers this number: it is bound to no
// agent, the agent was never published, or the workspace's balance is spent (a carrier would try 503 again elsewhere).
// Otherwise it rings while the customer is asked for variables and the plan is made, so that the greeting follows the
// answer. A record is there from the first ring on.
import { resolveTimezone } from "@parley/contract/Timezone"
import type { CallPlan } from "@parley/engine/CallPlan"
import type { IncomingCall } from "@parley/transport/phone/Phone"
import type { Billing } from "@parley/workspace/billing/Billing"
import type { PhoneCalls } from "@parley/workspace/phone/PhoneCalls"
import type { PhoneLine, PhoneLines } from "@parley/workspace/phone/PhoneLines"
import type { SessionLife } from "@parley/workspace/sessions/SessionLife"
import type { SessionRow } from "@parley/workspace/sessions/SessionRow"
import type { Runnable, Versions } from "@parley/workspace/agents/Versions"
import { askBeforeCall, type InitParts } from "@parley/workspace/webhooks/ConversationInit"
import { Cause, Deferred, Effect, Option } from "effect"
import type { CallPlans } from "../plan/CallPlans.ts"
import type { HeldCalls } from "../calls/HeldCalls.ts"
import type { CallTraces } from "./CallTraces.ts"

export interface ArrivalParts {
  readonly lines: Pick<PhoneLines["Service"], "byId">
  readonly versions: Pick<Versions["Service"], "live">
  readonly billing: Pick<Billing["Service"], "admit">
  readonly calls: PhoneCalls["Service"]
  readonly life: SessionLife["Service"]
  readonly plans: CallPlans["Service"]
  readonly held: HeldCalls["Service"]
  readonly sipTraces: CallTraces
  readonly init: InitParts
}

/** Until it is known whether anybody answers. */
export const lookUpMs = 5_000
const callerChars = 64

/** Why a call that rang is over before it was answered. */
type Gone = "caller" | "desk"

/** Ends once the call is held, refused or gone. Fails never; `seat` is free again unless the call is held. */
export const arrive = Effect.fnUntraced(function* (parts: ArrivalParts, incoming: IncomingCall, seat: string) {
  const { held } = parts
  const gone = Deferred.makeUnsafe<Gone>()
  incoming.onCancelled(() => Deferred.doneUnsafe(gone, Effect.succeed<Gone>("caller")))
  const isHeld = yield* welcome(parts, incoming, seat, gone).pipe(
    Effect.catchCause((cause) => {
      incoming.refuse(500)
      return Effect.as(
        Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("An incoming call could not be taken", cause),
        false
      )
    })
  )
  if (!isHeld) held.seats.leave(seat)
})

const welcome = Effect.fnUntraced(function* (
  parts: ArrivalParts,
  incoming: IncomingCall,
  seat: string,
  gone: Deferred.Deferred<Gone>
) {
  const found = yield* Effect.timeout(answererOf(parts, incoming.trunkId), lookUpMs)
  if (found === undefined) {
    incoming.refuse(486)
    return false
  }
  const { line, runnable } = found
  incoming.ring()
  const row = yield* parts.calls.ring({
    workspaceId: line.workspaceId,
    runnable,
    direction: "inbound",
    callerNumber: shown(incoming.callerNumber),
    dialedNumber: line.phoneNumber,
    sipCallId: shown(incoming.callId, 512),
    name: "",
    timezone: resolveTimezone({
      request: undefined,
      agent: runnable.config.conversation.timezone,
      client: undefined,
      caller: incoming.callerNumber
    }),
    endUserId: "",
    metadata: {},
    input: {
      overrides: {},
      dynamicVariables: {},
      worldContext: true,
      toolEvents: true,
      recordAudio: runnable.config.conversation.record_audio
    },
    maxDurationSeconds: runnable.config.conversation.max_duration_seconds
  })
  parts.sipTraces.belongs(incoming.callId, row.id)
  const silent = parts.held.rings(row.id, () => Deferred.doneUnsafe(gone, Effect.succeed<Gone>("desk")))
  return yield* pickUp(parts, incoming, { ...found, row, seat }, gone).pipe(
    // Whatever went wrong, the record does not go on ringing.
    Effect.onError(() => parts.life.settle(row.id, "cancelled", "pending")),
    Effect.ensuring(Effect.sync(silent))
  )
})

interface Ringing {
  readonly line: PhoneLine
  readonly runnable: Runnable
  readonly row: SessionRow
  readonly seat: string
}

const pickUp = Effect.fnUntraced(function* (
  parts: ArrivalParts,
  incoming: IncomingCall,
  ringing: Ringing,
  gone: Deferred.Deferred<Gone>
) {
  const { held, sipTraces, life } = parts
  const { row, seat } = ringing
  const prepared = yield* Effect.raceFirst(
    Effect.asSome(prepare(parts, incoming, ringing)),
    Effect.as(Deferred.await(gone), Option.none())
  )
  if (prepared._tag === "None") {
    // Nothing to the caller who gave up; a call that was ended by the API is told that nobody answers.
    incoming.refuse(480)
    yield* life.settle(row.id, "cancelled", "pending")
    return false
  }
  const leg = yield* Effect.promise(() => incoming.answer())
  if (leg === undefined) {
    yield* life.settle(row.id, "cancelled", "pending")
    return false
  }
  sipTraces.forget(incoming.callId)
  const { dynamicVariables, plan } = prepared.value
  const isUp = yield* life
    .answered(row.id, { sipCallId: row.sip_call_id, dynamicVariables })
    .pipe(Effect.onError(() => Effect.sync(() => leg.close("internal_error"))))
  if (!isUp) {
    leg.close("cancelled")
    return false
  }
  held.hold(plan, leg, () => {
    held.seats.leave(seat)
    sipTraces.belongs(incoming.callId, row.id)
    sipTraces.tell(incoming.callId, leg.sipTrace())
  })
  return true
})

const prepare = Effect.fnUntraced(function* (
  { init, life, plans }: ArrivalParts,
  incoming: IncomingCall,
  { line, row, runnable }: Ringing
): Effect.fn.Return<{
  readonly plan: CallPlan
  readonly dynamicVariables: SessionRow["request"]["dynamicVariables"]
}> {
  const endpoint = runnable.config.webhooks.conversation_init
  const dynamicVariables =
    endpoint === null
      ? {}
      : yield* askBeforeCall(
          endpoint,
          {
            callerNumber: row.caller_number,
            dialedNumber: line.phoneNumber,
            agentId: runnable.agentId,
            phoneNumberId: line.id,
            carrierCallId: line.provider === "sip" ? "" : incoming.callId
          },
          init
        )
  const session = yield* life.prepare({ ...row, request: { ...row.request, dynamicVariables } })
  return { plan: yield* plans.planFor(session), dynamicVariables }
})

/** The number's agent as it is published now; undefined when nobody is to answer. */
const answererOf = Effect.fnUntraced(function* ({ billing, lines, versions }: ArrivalParts, trunkId: string) {
  const line = yield* lines.byId(trunkId)
  if (line === undefined || line.agentId === null) return undefined
  const runnable = yield* Effect.option(versions.live(line.workspaceId, line.agentId))
  if (runnable._tag === "None") return undefined
  const account = yield* Effect.option(billing.admit(line.workspaceId, { kind: "agent", model: "" }))
  return account._tag === "None" ? undefined : { line, runnable: runnable.value }
})

/** As the carrier writes it, as far as a database can hold it. */
const shown = (text: string, most = callerChars): string =>
  text.replaceAll("\0", "").toWellFormed().slice(0, most).toWellFormed()
