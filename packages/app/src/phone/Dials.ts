// Calls we place (decisions 8): judged, recorded, answered as queued, then dialled in the background. While it rings the
// plan is made; once somebody takes it, it is held like any other call. Every dial resolves, and its record with it.
import {
  type BadRequest,
  Conflict,
  Forbidden,
  type Invalid,
  NotFound,
  PaymentRequired,
  type TooManyRequests,
  Unavailable
} from "@parley/contract/Errors"
import type { PhoneCallCreate, PhoneCallQueued, PhoneCallReason } from "@parley/contract/PhoneCall"
import { readVariables } from "@parley/contract/SessionRequest"
import { resolveTimezone } from "@parley/contract/Timezone"
import type { DialRequest, SipServer } from "@parley/transport/phone/Phone"
import { configHash } from "@parley/workspace/storage/configHash"
import { newId } from "@parley/workspace/storage/Id"
import type { Billing } from "@parley/workspace/billing/Billing"
import type { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import type { PhoneCalls } from "@parley/workspace/phone/PhoneCalls"
import type { Secrets } from "@parley/workspace/storage/Secrets"
import type { SessionLife } from "@parley/workspace/sessions/SessionLife"
import type { SessionRow } from "@parley/workspace/sessions/SessionRow"
import type { Versions } from "@parley/workspace/agents/Versions"
import { Effect, Fiber } from "effect"
import type { CallPlans } from "../plan/CallPlans.ts"
import type { ExtraBodies } from "../calls/ExtraBodies.ts"
import type { HeldCalls } from "../calls/HeldCalls.ts"
import { checkOverrides } from "../sessions/SessionRequests.ts"
import type { VoiceChoice } from "../speech/VoiceChoice.ts"
import { callFault } from "./dialRules.ts"
import type { CallTraces } from "./CallTraces.ts"
import { headersOf, outboundTrunk } from "./trunks.ts"

export interface DialParts {
  /** Undefined while the telephone is switched off, or going off. */
  readonly door: () => Pick<SipServer, "dial"> | undefined
  readonly lines: PhoneLines["Service"]
  readonly versions: Pick<Versions["Service"], "live">
  readonly billing: Pick<Billing["Service"], "admit">
  readonly voices: VoiceChoice["Service"]
  readonly calls: PhoneCalls["Service"]
  readonly life: SessionLife["Service"]
  readonly plans: CallPlans["Service"]
  readonly held: HeldCalls["Service"]
  readonly sipTraces: CallTraces
  readonly secrets: Pick<Secrets["Service"], "open">
  readonly extraBodies: ExtraBodies["Service"]
  readonly countries: ReadonlyArray<string>
  readonly vendor: string
  /** Goes on by itself. */
  readonly fork: (dial: Effect.Effect<void>) => void
}

export type PlaceFault =
  | BadRequest
  | Conflict
  | Forbidden
  | Invalid
  | NotFound
  | PaymentRequired
  | TooManyRequests
  | Unavailable

/** Ringing for longer is no answer. */
const ringSeconds = 45

/** With a key, a request is carried out once in 24 hours; one that failed leaves the key as new. */
export const place = Effect.fnUntraced(function* (
  parts: DialParts,
  workspace: string,
  request: PhoneCallCreate,
  idempotencyKey: string | undefined
): Effect.fn.Return<PhoneCallQueued, PlaceFault> {
  if (idempotencyKey === undefined) return yield* begin(parts, workspace, request, undefined)
  const key = { key: idempotencyKey, bodyHash: configHash(request) }
  const placed = yield* parts.calls.enter(workspace, key)
  if (placed !== undefined) return { session_id: placed, status: "queued" }
  return yield* Effect.onError(begin(parts, workspace, request, key), () => parts.calls.leave(workspace, key))
})

const begin = Effect.fnUntraced(function* (
  parts: DialParts,
  workspace: string,
  request: PhoneCallCreate,
  key: Parameters<PhoneCalls["Service"]["place"]>[1]
): Effect.fn.Return<PhoneCallQueued, PlaceFault> {
  const { calls, held, lines } = parts
  const runnable = yield* parts.versions
    .live(workspace, request.agent_id)
    .pipe(
      Effect.mapError(({ message, status }) =>
        status === 404
          ? new NotFound({ message, ...because("agent_not_found") })
          : new Conflict({ message, ...because("agent_not_published") })
      )
    )
  const line = yield* lines.ofWorkspace(workspace, request.phone_number_id)
  if (line === undefined) {
    return yield* new NotFound({ message: "Phone number not found", ...because("number_not_found") })
  }
  if (!(yield* lines.mayDial(workspace))) {
    return yield* new Forbidden({ message: "This workspace may not place calls", ...because("outbound_disabled") })
  }
  const isOwn = yield* lines.isOnPlatform(request.to_number)
  const fault = callFault(line, request, { ...parts, isOwn })
  if (fault !== undefined) return yield* fault
  const overrides = request.overrides ?? {}
  yield* checkOverrides(workspace, overrides, runnable, parts.voices)
  yield* parts.billing
    .admit(workspace, { kind: "agent", model: "" })
    .pipe(Effect.mapError(({ message }) => new PaymentRequired({ message, ...because("insufficient_credit") })))
  const door = parts.door()
  const trunk = outboundTrunk(line, parts.secrets.open)
  if (door === undefined || trunk === undefined) {
    return yield* new Unavailable({ message: "The telephone is switched off (PARLEY_SIP_PORT)" })
  }
  const seat = newId("seat")
  if (!held.seats.take(seat)) return yield* new Unavailable({ message: "There is no free place for another call" })
  const { conversation } = runnable.config
  const placing = calls.place(
    {
      workspaceId: workspace,
      runnable,
      direction: "outbound",
      callerNumber: request.to_number,
      dialedNumber: line.phoneNumber,
      sipCallId: "",
      name: "",
      timezone: resolveTimezone({
        request: undefined,
        agent: conversation.timezone,
        client: undefined,
        caller: request.to_number
      }),
      endUserId: "",
      metadata: request.metadata ?? {},
      input: {
        overrides,
        dynamicVariables: readVariables(request.dynamic_variables ?? {}),
        worldContext: true,
        toolEvents: true,
        recordAudio: conversation.record_audio
      },
      maxDurationSeconds: conversation.max_duration_seconds
    },
    key
  )
  const start = Effect.map(placing, (row): PhoneCallQueued => {
    if (request.llm_extra_body) parts.extraBodies.keep(row.id, request.llm_extra_body)
    const headers = headersOf(line, request.sip_headers ?? {}, { sessionId: row.id, vendor: parts.vendor })
    const from = line.phoneNumber
    parts.fork(ring(parts, door, { trunk, from, to: request.to_number, headers, ringSeconds }, row, seat))
    return { session_id: row.id, status: "queued" }
  })
  // Whoever asked may be gone: a call that is recorded is dialled.
  return yield* Effect.uninterruptible(Effect.onError(start, () => Effect.sync(() => held.seats.leave(seat))))
})

const ring = Effect.fnUntraced(function* (
  parts: DialParts,
  door: Pick<SipServer, "dial">,
  request: DialRequest,
  row: SessionRow,
  seat: string
) {
  const { held, life } = parts
  const isHeld = yield* dial(parts, door, request, row, seat).pipe(
    Effect.catchCause((cause) =>
      Effect.logError("A call that was placed failed", cause).pipe(
        Effect.andThen(life.settle(row.id, "dial_failed", "pending", "failed")),
        Effect.andThen(life.settle(row.id, "internal_error", "active")),
        Effect.as(false)
      )
    )
  )
  if (!isHeld) held.seats.leave(seat)
})

/** True when the call is held. */
const dial = Effect.fnUntraced(function* (
  parts: DialParts,
  door: Pick<SipServer, "dial">,
  request: DialRequest,
  row: SessionRow,
  seat: string
) {
  const { held, sipTraces, life, plans } = parts
  const dialling = door.dial(request)
  const silent = held.rings(row.id, () => dialling.cancel())
  const planning = yield* Effect.forkChild(Effect.flatMap(life.prepare(row), plans.planFor))
  const outcome = yield* Effect.promise(() => dialling.outcome).pipe(
    Effect.ensuring(Effect.sync(silent)),
    Effect.onInterrupt(() => Effect.sync(() => dialling.cancel()))
  )
  if (outcome.status !== "answered") {
    sipTraces.belongs(outcome.callId, row.id)
    yield* life.settle(row.id, "dial_failed", "pending", outcome.status)
    return false
  }
  const { callId, leg } = outcome
  return yield* Effect.gen(function* () {
    // Ended by the API while it was being taken.
    if (!(yield* life.answered(row.id, { sipCallId: callId }))) {
      leg.close("cancelled")
      return false
    }
    const plan = yield* Fiber.join(planning)
    held.hold(plan, leg, () => {
      held.seats.leave(seat)
      sipTraces.belongs(callId, row.id)
      sipTraces.tell(callId, leg.sipTrace())
    })
    return true
  }).pipe(Effect.onError(() => Effect.sync(() => leg.close("internal_error"))))
})

const because = (reason: PhoneCallReason) => ({ reason })
