// A call that we place at one place of its trunk, as one scoped program: it sends the INVITE, waits while it rings, takes
// the answer, talks, and ends. Exactly one outcome; a second answer of a forked call (RFC 3261, 13.2.2.4) and one that
// crosses our CANCEL are ended at once.
import { Deferred, Effect, Exit, Option, Queue, Redacted, type Scope } from "effect"
import type {
  AckableIncomingResponseWithSession,
  IncomingResponseMessage,
  OutgoingInviteRequest
} from "sip.js/lib/core/index.js"
import { URI } from "sip.js/lib/grammar/index.js"
import type { DialOutcome, DialRequest, SipTimings } from "../phone/Phone.ts"
import type { Media } from "../rtp/Media.ts"
import { converse } from "./conversation.ts"
import { allowed } from "./incomingCall.ts"
import type { SipTrace } from "./SipTrace.ts"
import { hostAndPort } from "./locate.ts"
import { answeredOf } from "./sessionTimer.ts"
import type { SipCore } from "./SipCore.ts"
import { attempt, sdpBody } from "./coreActs.ts"
import type { SipSession } from "./SipSession.ts"

/** A call to place, at one place. */
export interface OutgoingCallOptions {
  readonly request: DialRequest
  readonly callId: string
  readonly sip: SipCore
  readonly media: Media
  readonly sipTrace: SipTrace
  readonly timings: SipTimings
  /** Done when the caller gives up. */
  readonly cancelled: Deferred.Deferred<void>
  readonly onSession: (session: SipSession) => void
}

/** Seconds, in our own INVITE: a far side that dies is noticed even while it is silent on purpose (RFC 4028). */
const sessionSeconds = 1_800

type Answer =
  | { readonly _tag: "Progress" }
  | { readonly _tag: "Accepted"; readonly response: AckableIncomingResponseWithSession; readonly early: string }
  | { readonly _tag: "Refused"; readonly status: number | null; readonly redirected: boolean }
type Accepted = Extract<Answer, { readonly _tag: "Accepted" }>
type Final = Exclude<Answer, { readonly _tag: "Progress" }>

/** Tells the outcome to `onOutcome`, once, and lives as long as the call does. */
export const outgoingCall = Effect.fnUntraced(function* (
  options: OutgoingCallOptions,
  onOutcome: (outcome: DialOutcome) => void
): Effect.fn.Return<void, never, Scope.Scope> {
  const { callId, media, sip, sipTrace, timings } = options
  const unanswered = (status: "busy" | "no_answer" | "failed", sipStatus: number | null): void =>
    onOutcome({ status, sipStatus, callId })
  const final = yield* invited(options)
  if (final === "dead") return unanswered("failed", null)
  if ("cancelledWith" in final) return unanswered("no_answer", final.cancelledWith)
  if (final._tag === "Refused") {
    return unanswered(final.redirected ? "failed" : outcomeOf(final.status), final.status)
  }
  const { message, session } = final.response
  const timer = answeredOf(message.getHeader("session-expires"))
  const conversation = yield* converse({ callId, sip, session, media, sipTrace, timer, timings })
  options.onSession(conversation.session)
  const description = message.body === "" ? final.early : message.body
  if (!(yield* Effect.promise(() => media.accept(description)))) {
    sipTrace.note("no codec fits", "")
    conversation.session.end("closed")
    return unanswered("failed", 488)
  }
  onOutcome({ status: "answered", leg: conversation.leg(), callId })
  yield* conversation.over
})

/**
 * From the INVITE to its final answer. `dead`: not even a 100 within `deadMs`. `cancelled`: given up by us, or rang for
 * too long; the CANCEL was answered, or `cancelMs` passed.
 */
const invited = Effect.fnUntraced(function* (
  options: OutgoingCallOptions
): Effect.fn.Return<Final | "dead" | { readonly cancelledWith: number | null }, never, Scope.Scope> {
  const { cancelled, request, sip, sipTrace, timings } = options
  const answers = yield* Queue.unbounded<Answer>()
  const accepted = Deferred.makeUnsafe<Accepted | undefined>()
  const invite = sendInvite(options, answers, accepted)
  // Whatever is accepted from here on is not taken any more.
  yield* Effect.addFinalizer(() => Effect.sync(() => void Deferred.doneUnsafe(accepted, Exit.succeed(undefined))))
  const final = Queue.take(answers).pipe(
    Effect.repeat({ while: (answer) => answer._tag === "Progress" })
  ) as Effect.Effect<Final>
  const ringing = Effect.gen(function* () {
    const first = yield* Effect.timeoutOption(Queue.take(answers), timings.deadMs)
    if (Option.isNone(first)) return "dead"
    if (first.value._tag !== "Progress") return first.value
    const answered = yield* Effect.timeoutOption(final, request.ringSeconds * timings.secondMs)
    return Option.getOrElse(answered, () => "cancel" as const)
  })
  const giveUp = Effect.sync(() => {
    Deferred.doneUnsafe(accepted, Exit.succeed(undefined))
    sipTrace.note("cancelled", "")
    attempt(sip, () => invite.cancel())
  })
  const result = yield* Effect.raceFirst(ringing, Effect.as(Deferred.await(cancelled), "cancel" as const)).pipe(
    Effect.onInterrupt(() => giveUp)
  )
  if (result !== "cancel") return result
  yield* giveUp
  // 487 is owed (RFC 3261, 9.1); a 200 that crossed the CANCEL was acknowledged and ended at once.
  const last = yield* Effect.timeoutOption(final, timings.cancelMs)
  return { cancelledWith: Option.isSome(last) && last.value._tag === "Refused" ? last.value.status : null }
})

/** Sends the INVITE with our offer. The first 200 that is still wanted is `accepted`; any other is acknowledged and ended. */
const sendInvite = (
  { callId, media, request, sip }: OutgoingCallOptions,
  answers: Queue.Queue<Answer>,
  accepted: Deferred.Deferred<Accepted | undefined>
): OutgoingInviteRequest => {
  /** Descriptions in provisional answers, by whose they are. */
  const early = new Map<string, string>()
  /** Provisional answers that were acknowledged, by whose they are and their number. */
  const acknowledged = new Set<string>()
  const target = targetOf(request)
  const from = new URI("sip", request.from, hostOf(sip))
  const headers = [
    `Contact: ${sip.contact}`,
    allowed,
    `Session-Expires: ${sessionSeconds}`,
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`)
  ]
  const body = sdpBody(media.offer())
  const message = sip.core.makeOutgoingRequestMessage("INVITE", target, from, target, { callId }, headers, body)
  const refused = ({ statusCode }: IncomingResponseMessage, redirected: boolean): void =>
    void Queue.offerUnsafe(answers, { _tag: "Refused", status: statusCode ?? null, redirected })
  return sip.enter(() =>
    sip.core.invite(message, {
      onTrying: () => void Queue.offerUnsafe(answers, { _tag: "Progress" }),
      onProgress: (response) => {
        Queue.offerUnsafe(answers, { _tag: "Progress" })
        const { message: progress } = response
        if (progress.body !== "") early.set(progress.toTag, progress.body)
        // Reliable provisional answers want to be acknowledged, each once (RFC 3262, 4).
        const sequence = /^\d{1,10}$/.exec(progress.getHeader("rseq") ?? "")?.[0]
        if (sequence === undefined || acknowledged.has(`${progress.toTag} ${sequence}`)) return
        acknowledged.add(`${progress.toTag} ${sequence}`)
        attempt(sip, () => response.prack({ extraHeaders: [`RAck: ${sequence} ${progress.cseq} INVITE`] }))
      },
      onAccept: (response) => {
        attempt(sip, () => response.ack())
        const answer: Accepted = { _tag: "Accepted", response, early: early.get(response.message.toTag) ?? "" }
        if (!Deferred.doneUnsafe(accepted, Exit.succeed(answer))) attempt(sip, () => response.session.bye())
        Queue.offerUnsafe(answers, answer)
      },
      onRedirect: ({ message: moved }) => refused(moved, true),
      onReject: ({ message: rejected }) => refused(rejected, false)
    })
  )
}

/** 486 and 600: busy; 408, 480 and 487: nobody took it; all else: failed. */
const outcomeOf = (status: number | null): "busy" | "no_answer" | "failed" => {
  if (status === 486 || status === 600) return "busy"
  return status === 408 || status === 480 || status === 487 ? "no_answer" : "failed"
}

/** A number at the trunk's host, or the address as it is. */
const targetOf = ({ to, trunk }: DialRequest): URI => {
  const address = /^sips?:(?:([^@;>\s]*)@)?(\[[0-9a-f:.]+\]|[^:;>\s?]+)(?::(\d{1,5}))?/i.exec(to)
  if (address !== null) {
    const [, user = "", host = "", port] = address
    return new URI("sip", decoded(user), host, port === undefined ? undefined : Number(port))
  }
  const [host, port] = hostAndPort(trunk.uri)
  return new URI("sip", to, host.includes(":") ? `[${host}]` : host, port)
}

const decoded = (user: string): string => {
  try {
    return decodeURIComponent(user)
  } catch {
    return user
  }
}

const hostOf = (sip: SipCore): string => sip.core.configuration.contact.uri.host

/** What a trunk's password is used for ends here: the digest of our requests. */
export const credentialsOf = (credentials: DialRequest["trunk"]["credentials"]) =>
  credentials === undefined
    ? undefined
    : { username: credentials.username, password: Redacted.value(credentials.password) }
