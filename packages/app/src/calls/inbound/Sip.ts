// Calls that ring at one of our numbers. Refused at once, busy, when nobody answers this number: it is bound to no agent,
// the agent was never published, or the workspace's balance is spent (a carrier would try 503 again elsewhere).
// Otherwise it rings while the customer is asked for variables and the plan is made, so that the greeting follows the
// answer. A record is there from the first ring on.
import { resolveTimezone } from "@parley/contract/Timezone"
import type { IncomingCall, PhoneLeg } from "@parley/transport/phone/Phone"
import { Billing } from "@parley/workspace/billing/Billing"
import { SafeHttp } from "@parley/workspace/outbound/SafeHttp"
import { PhoneCalls } from "@parley/workspace/phone/PhoneCalls"
import { type PhoneLine, PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { SessionLife } from "@parley/workspace/sessions/SessionLife"
import type { SessionRow } from "@parley/workspace/sessions/SessionRow"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { type Runnable, Versions } from "@parley/workspace/agents/Versions"
import { askBeforeCall } from "@parley/workspace/webhooks/ConversationInit"
import { Cause, Data, Deferred, Effect, Layer } from "effect"
import { AppSettings } from "../../AppSettings.ts"
import { keptTrace } from "../../phone/keptTrace.ts"
import { lookUpMs, Telephone } from "../../phone/Telephone.ts"
import { CallPlans } from "../../plan/CallPlans.ts"
import { type Call, type ClaimedCall, Unanswered } from "../Call.ts"
import { Calls } from "../Calls.ts"

/** What a caller is known as in the record. */
const callerChars = 64

/** Nobody answers this call, and there is no record of it. */
class NotTaken extends Data.TaggedError("NotTaken") {}

/** Takes calls from now on until the scope closes. */
export const layer: Layer.Layer<
  never,
  never,
  | AppSettings
  | Billing
  | CallPlans
  | Calls
  | PhoneCalls
  | PhoneLines
  | SafeHttp
  | Secrets
  | SessionLife
  | Telephone
  | Versions
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const calls = yield* Calls
    const telephone = yield* Telephone
    const claimOf = yield* makeClaim
    const run = Effect.runForkWith(yield* Effect.context<never>())
    yield* telephone.answerWith((incoming) => {
      const call = calls.permit({ stranger: {} })
      if (call._tag === "NoPlace") return incoming.refuse(503)
      run(calls.start(call, refusedIfBroken(incoming, claimOf(call, incoming))).pipe(Effect.ignore))
    })
  })
)

/** From an INVITE to a session of ours. */
const makeClaim = Effect.gen(function* () {
  const calls = yield* Calls
  const billing = yield* Billing
  const lines = yield* PhoneLines
  const life = yield* SessionLife
  const phoneCalls = yield* PhoneCalls
  const plans = yield* CallPlans
  const telephone = yield* Telephone
  const versions = yield* Versions
  const { userAgent, vendor } = yield* AppSettings
  const init = { http: yield* SafeHttp, secrets: yield* Secrets, vendor, userAgent }

  /** The number's agent as it is published now; undefined when nobody is to answer. */
  const answererOf = Effect.fnUntraced(function* (trunkId: string) {
    const line = yield* lines.byId(trunkId)
    if (line === undefined || line.agentId === null) return undefined
    const runnable = yield* Effect.option(versions.live(line.workspaceId, line.agentId))
    if (runnable._tag === "None") return undefined
    const account = yield* Effect.option(billing.admit(line.workspaceId, { kind: "agent", model: "" }))
    return account._tag === "None" ? undefined : { line, runnable: runnable.value }
  })

  const askedFor = (incoming: IncomingCall, { line, row, runnable }: Ringing) => {
    const endpoint = runnable.config.webhooks.conversation_init
    if (endpoint === null) return Effect.succeed({})
    const carrierCallId = line.provider === "sip" ? "" : incoming.callId
    return askBeforeCall(
      endpoint,
      {
        callerNumber: row.caller_number,
        dialedNumber: line.phoneNumber,
        agentId: runnable.agentId,
        phoneNumberId: line.id,
        carrierCallId
      },
      init
    )
  }

  return Effect.fnUntraced(function* (call: Call, incoming: IncomingCall) {
    const gone = Deferred.makeUnsafe<never, Unanswered>()
    incoming.onCancelled(() => Deferred.doneUnsafe(gone, Effect.fail(new Unanswered({ reason: "cancelled" }))))
    const found = yield* Effect.timeout(answererOf(incoming.trunkId), lookUpMs)
    const tenant = found && { workspaceId: found.line.workspaceId, agentId: found.runnable.agentId }
    if (found === undefined || tenant === undefined || !calls.assign(call, tenant)) {
      incoming.refuse(486)
      return yield* new NotTaken()
    }
    const { line, runnable } = found
    incoming.ring()
    const row = yield* phoneCalls.ring(newSession(incoming, line, runnable))
    const ringing = { line, runnable, row }
    let variables: SessionRow["request"]["dynamicVariables"] = {}
    let leg: PhoneLeg | undefined
    const claimed: ClaimedCall = {
      ...tenant,
      sessionId: row.id,
      isPhone: true,
      plan: Effect.gen(function* () {
        variables = yield* askedFor(incoming, ringing)
        const session = yield* life.prepare({ ...row, request: { ...row.request, dynamicVariables: variables } })
        return yield* plans.planFor(session)
      }),
      leg: (plan) =>
        Effect.andThen(
          Effect.raceFirst(plan, Deferred.await(gone)),
          Effect.suspend(() => answer(incoming, row, variables))
        ).pipe(
          Effect.tap((taken) => Effect.sync(() => (leg = taken))),
          // Nothing to the caller who gave up; a call that was ended is told that nobody answers.
          Effect.onError((cause) => Effect.sync(() => incoming.refuse(isDefect(cause) ? 500 : 480)))
        ),
      givenUp: () => ({ reason: "cancelled", active: "agent_hangup" }),
      afterwards: Effect.suspend(() => keptTrace(phoneCalls, telephone, row.id, leg ?? incoming.callId))
    }
    return claimed
  })

  /** The 200; nobody's when the caller left, or the API ended it, at the same moment. */
  function answer(incoming: IncomingCall, row: SessionRow, dynamicVariables: typeof row.request.dynamicVariables) {
    return Effect.uninterruptible(
      Effect.gen(function* () {
        const leg = yield* Effect.promise(() => incoming.answer())
        if (leg === undefined) return yield* new Unanswered({ reason: "cancelled" })
        yield* Effect.addFinalizer(() => Effect.sync(() => leg.close("cancelled")))
        const isUp = yield* life.answered(row.id, { sipCallId: row.sip_call_id, dynamicVariables })
        return isUp ? leg : yield* new Unanswered({ reason: "cancelled" })
      })
    )
  }
})

interface Ringing {
  readonly line: PhoneLine
  readonly runnable: Runnable
  readonly row: SessionRow
}

/** A look-up that broke or took too long is no "busy". */
const refusedIfBroken = <A, E>(incoming: IncomingCall, claim: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.onError(claim, (cause) => {
    if (Cause.squash(cause) instanceof NotTaken) return Effect.void
    incoming.refuse(500)
    return Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("An incoming call could not be taken", cause)
  })

const isDefect = (cause: Cause.Cause<Unanswered>): boolean =>
  !Cause.hasInterruptsOnly(cause) && !(Cause.squash(cause) instanceof Unanswered)

const newSession = (
  incoming: IncomingCall,
  line: PhoneLine,
  runnable: Runnable
): Parameters<PhoneCalls["Service"]["ring"]>[0] => {
  const { conversation } = runnable.config
  return {
    workspaceId: line.workspaceId,
    runnable,
    direction: "inbound",
    callerNumber: storable(incoming.callerNumber),
    dialedNumber: line.phoneNumber,
    sipCallId: storable(incoming.callId, 512),
    name: "",
    timezone: resolveTimezone({
      request: undefined,
      agent: conversation.timezone,
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
      recordAudio: conversation.record_audio
    },
    maxDurationSeconds: conversation.max_duration_seconds
  }
}

/** As the carrier writes it, as far as a database can hold it. */
const storable = (text: string, most = callerChars): string =>
  text.replaceAll("\0", "").toWellFormed().slice(0, most).toWellFormed()
