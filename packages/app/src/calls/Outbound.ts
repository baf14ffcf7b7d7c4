// Calls we place: examined, recorded, answered as queued, then dialled in the background. While it rings the plan is
// made; once somebody takes it, it is a call like any other. Every dial resolves, and its record with it.
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
import type { OutboundTrunk, PhoneLeg } from "@parley/transport/phone/Phone"
import { configHash } from "@parley/workspace/storage/configHash"
import { Billing } from "@parley/workspace/billing/Billing"
import { type CallKey, type NewPhoneCall, PhoneCalls } from "@parley/workspace/phone/PhoneCalls"
import { type PhoneLine, PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { SessionLife } from "@parley/workspace/sessions/SessionLife"
import type { SessionRow } from "@parley/workspace/sessions/SessionRow"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { type Runnable, Versions } from "@parley/workspace/agents/Versions"
import { Context, Deferred, Effect, Layer, type Scope } from "effect"
import { AppSettings } from "../AppSettings.ts"
import { callFault } from "../phone/dialRules.ts"
import { keptTrace } from "../phone/keptTrace.ts"
import { Telephone } from "../phone/Telephone.ts"
import { headersOf, outboundTrunk } from "../phone/trunks.ts"
import { CallPlans } from "../plan/CallPlans.ts"
import { checkOverrides } from "../plan/checkOverrides.ts"
import { VoiceChoice } from "../speech/VoiceChoice.ts"
import { type ClaimedCall, type GivenUp, type UnansweredEnd, Unanswered } from "./Call.ts"
import { Calls } from "./Calls.ts"

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
/** A call that was given up is over within this time, with what its peers say to that (RFC 3261, 9.1 and 17.1.1.2). */
const overMs = 60_000

export class OutboundCalls extends Context.Service<
  OutboundCalls,
  {
    /**
     * Answers before it rings. With a key a request is carried out once in 24 hours; one that failed leaves the key as
     * new. Whoever asked may be gone meanwhile: a call that is recorded is dialled.
     */
    readonly place: (
      workspace: string,
      request: PhoneCallCreate,
      idempotencyKey: string | undefined
    ) => Effect.Effect<PhoneCallQueued, PlaceFault>
  }
>()("@parley/app/OutboundCalls") {
  static readonly layer: Layer.Layer<
    OutboundCalls,
    never,
    | AppSettings
    | Billing
    | CallPlans
    | Calls
    | PhoneCalls
    | PhoneLines
    | Secrets
    | SessionLife
    | Telephone
    | Versions
    | VoiceChoice
  > = Layer.effect(
    OutboundCalls,
    Effect.gen(function* () {
      const calls = yield* Calls
      const phoneCalls = yield* PhoneCalls
      const examined = yield* makeExamination
      const claimOf = yield* makeClaim

      const begin = Effect.fnUntraced(function* (
        workspace: string,
        request: PhoneCallCreate,
        key: CallKey | undefined
      ): Effect.fn.Return<PhoneCallQueued, PlaceFault> {
        const dialled = yield* examined(workspace, request)
        const call = calls.permit({ tenant: { workspaceId: workspace, agentId: dialled.runnable.agentId } })
        if (call._tag === "NoPlace") return yield* new Unavailable({ message: noPlace[call.reason] })
        yield* Effect.uninterruptible(calls.start(call, claimOf(workspace, request, dialled, key)))
        return { session_id: call.sessionId ?? "", status: "queued" }
      })

      return {
        place: Effect.fn("OutboundCalls.place")(function* (workspace, request, idempotencyKey) {
          if (idempotencyKey === undefined) return yield* begin(workspace, request, undefined)
          const key = { key: idempotencyKey, bodyHash: configHash(request) }
          const placed = yield* phoneCalls.enter(workspace, key)
          if (placed !== undefined) return { session_id: placed, status: "queued" }
          return yield* Effect.onError(begin(workspace, request, key), () => phoneCalls.leave(workspace, key))
        })
      }
    })
  )
}

interface Dialled {
  readonly runnable: Runnable
  readonly line: PhoneLine
  readonly trunk: OutboundTrunk
}

/** Why a call is not placed, in the order the reasons are looked at. */
const makeExamination = Effect.gen(function* () {
  const billing = yield* Billing
  const lines = yield* PhoneLines
  const secrets = yield* Secrets
  const telephone = yield* Telephone
  const versions = yield* Versions
  const voices = yield* VoiceChoice
  const { callCountries: countries, vendor } = yield* AppSettings
  return Effect.fnUntraced(function* (
    workspace: string,
    request: PhoneCallCreate
  ): Effect.fn.Return<Dialled, PlaceFault> {
    const runnable = yield* versions
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
    const fault = callFault(line, request, { countries, vendor, isOwn })
    if (fault !== undefined) return yield* fault
    yield* checkOverrides(workspace, request.overrides ?? {}, runnable, voices)
    yield* billing
      .admit(workspace, { kind: "agent", model: "" })
      .pipe(Effect.mapError(({ message }) => new PaymentRequired({ message, ...because("insufficient_credit") })))
    const trunk = outboundTrunk(line, secrets.of)
    if (telephone.ports === undefined || trunk === undefined) {
      return yield* new Unavailable({ message: "The telephone is switched off (PARLEY_SIP_PORT)" })
    }
    return { runnable, line, trunk }
  })
})

/** From a request that was examined to a session of ours. */
const makeClaim = Effect.gen(function* () {
  const life = yield* SessionLife
  const phoneCalls = yield* PhoneCalls
  const plans = yield* CallPlans
  const telephone = yield* Telephone
  const { vendor } = yield* AppSettings

  const dial = Effect.fnUntraced(function* (
    row: SessionRow,
    request: PhoneCallCreate,
    { line, trunk }: Dialled,
    onOver: (callId: string) => void
  ): Effect.fn.Return<PhoneLeg, Unanswered | NotAnsweredCall, Scope.Scope> {
    const headers = headersOf(line, request.sip_headers ?? {}, { sessionId: row.id, vendor })
    const asked = { trunk, from: line.phoneNumber, to: request.to_number, headers, ringSeconds }
    const leg = yield* telephone.dial(asked, onOver)
    // Ended by the API while it was being taken.
    if (!(yield* life.answered(row.id, { sipCallId: leg.callId }))) {
      leg.close("cancelled")
      return yield* new Unanswered({ reason: "cancelled", dial: "no_answer" })
    }
    return leg
  })

  return Effect.fnUntraced(function* (
    workspace: string,
    request: PhoneCallCreate,
    dialled: Dialled,
    key: CallKey | undefined
  ) {
    const row = yield* phoneCalls.place(newSession(workspace, request, dialled), key)
    const peer = Deferred.makeUnsafe<PhoneLeg | string>()
    const meet = (found: PhoneLeg | string): void => void Deferred.doneUnsafe(peer, Effect.succeed(found))
    const claimed: ClaimedCall = {
      workspaceId: workspace,
      agentId: dialled.runnable.agentId,
      sessionId: row.id,
      isPhone: true,
      plan: Effect.flatMap(life.prepare(row), (session) => plans.planFor(session, request.llm_extra_body ?? undefined)),
      leg: () =>
        dial(row, request, dialled, meet).pipe(
          Effect.tap((leg) => Effect.sync(() => meet(leg))),
          Effect.catchTag("NotAnswered", ({ status }) =>
            Effect.fail(new Unanswered({ reason: "dial_failed", dial: status }))
          )
        ),
      givenUp: (by) => givenUp[by],
      afterwards: Deferred.await(peer).pipe(
        Effect.timeoutOption(overMs),
        Effect.flatMap((found) =>
          found._tag === "None" ? Effect.void : keptTrace(phoneCalls, telephone, row.id, found.value)
        )
      )
    }
    return claimed
  })
})

type NotAnsweredCall = Effect.Error<ReturnType<Telephone["Service"]["dial"]>>

const givenUp: Record<GivenUp, UnansweredEnd> = {
  ended: { reason: "cancelled", dial: "no_answer" },
  stopped: { reason: "dial_failed", dial: "no_answer" },
  displaced: { reason: "dial_failed", dial: "no_answer" },
  broken: { reason: "dial_failed", dial: "failed" }
}

const newSession = (workspace: string, request: PhoneCallCreate, { line, runnable }: Dialled): NewPhoneCall => {
  const { conversation } = runnable.config
  return {
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
      overrides: request.overrides ?? {},
      dynamicVariables: readVariables(request.dynamic_variables ?? {}),
      worldContext: true,
      toolEvents: true,
      recordAudio: conversation.record_audio
    },
    maxDurationSeconds: conversation.max_duration_seconds
  }
}

const noPlace = {
  stopping: "The service is stopping",
  taken: "There is no free place for another call",
  full: "There is no free place for another call"
}

const because = (reason: PhoneCallReason) => ({ reason })
