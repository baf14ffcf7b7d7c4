// A call that comes in, as one scoped program: it rings until it is answered, refused or given up by the caller, talks,
// and ends. What the service does with it enters by two deferred decisions; everything it holds goes with its scope.
import { Deferred, Effect, Exit, Option, type Scope } from "effect"
import type { IncomingInviteRequest, IncomingRequestMessage } from "sip.js/lib/core/index.js"
import type { IncomingCall, PhoneLeg, SipTimings } from "../phone/Phone.ts"
import type { Media } from "../rtp/Media.ts"
import { acquireMedia, converse, type Conversation } from "./conversation.ts"
import type { SipTrace } from "./SipTrace.ts"
import { askedOf } from "./sessionTimer.ts"
import type { SipCore } from "./SipCore.ts"
import { attempt, sdpBody } from "./coreActs.ts"
import type { SipSession } from "./SipSession.ts"

/** A call that its trunk admitted. */
export interface IncomingCallOptions {
  readonly request: IncomingInviteRequest
  readonly sip: SipCore
  readonly sipTrace: SipTrace
  readonly timings: SipTimings
  readonly call: Pick<IncomingCall, "trunkId" | "callerNumber" | "dialedNumber">
  /** Rejects when no ports are free. */
  readonly makeMedia: () => Promise<Media>
  /** The source of the INVITE is real: a connection, or a password that was asked for there. */
  readonly isProven: boolean
  readonly onCall: (call: IncomingCall) => void
  readonly onSession: (session: SipSession) => void
}

/** The methods we take, as an Allow header (RFC 3261, 20.5). */
export const allowed = "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, NOTIFY, PRACK, REFER, UPDATE"
/** A 180 that must be acknowledged is sent again until it is, each time after twice the wait (RFC 3262, 3). */
const reliableMs = 500
const giveUpMs = 32_000

type Asked = Pick<IncomingCallOptions, "request" | "sip">
type Decision = "answer" | "givenUp" | { readonly status: number; readonly headers: Array<string> }
type Timer = Exclude<ReturnType<typeof askedOf>, "tooSmall">

/**
 * Offers the call to `onCall` and lives as long as the call does. Resolves to whether a leg was handed out. When the
 * scope closes before a final answer was given, the INVITE is refused with 503.
 */
export const incomingCall = Effect.fnUntraced(function* (
  options: IncomingCallOptions
): Effect.fn.Return<boolean, never, Scope.Scope> {
  const { request } = options
  const decision = Deferred.makeUnsafe<Decision>()
  const decide = (what: Decision): boolean => Deferred.doneUnsafe(decision, Exit.succeed(what))
  const givenUp = Deferred.makeUnsafe<undefined>()
  const rung = Deferred.makeUnsafe<void>()
  const leg = Deferred.makeUnsafe<PhoneLeg | undefined>()
  let tellCancelled: (() => void) | undefined
  // In this order: whoever waits for the decision may go on before the next line.
  const giveUp = (): void => {
    Deferred.doneUnsafe(givenUp, Exit.succeed(undefined))
    decide("givenUp")
  }
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      decide("givenUp")
      Deferred.doneUnsafe(leg, Exit.succeed(undefined))
      // The transaction refuses a second final answer.
      reject(options, 503)
    })
  )
  request.delegate = {
    onCancel: () => {
      reject(options, 487)
      giveUp()
    },
    onTransportError: giveUp
  }
  const ringing = yield* Effect.forkScoped(Effect.andThen(Deferred.await(rung), ring(options)), {
    startImmediately: true
  })
  options.onCall({
    ...options.call,
    callId: request.message.callId,
    ring: () => void Deferred.doneUnsafe(rung, Effect.void),
    refuse: (status) => void decide({ status, headers: status === 503 ? ["Retry-After: 10"] : [] }),
    answer: () => (decide("answer") ? Effect.runPromise(Deferred.await(leg)) : Promise.resolve(undefined)),
    onCancelled: (tell) => (tellCancelled = tell)
  })

  const decided = yield* Deferred.await(decision)
  if (typeof decided === "object") {
    reject(options, decided.status, decided.headers)
    return false
  }
  const conversation =
    decided === "answer" ? yield* Effect.raceFirst(answer(options), Deferred.await(givenUp)) : undefined
  ringing.interruptUnsafe()
  if (conversation === undefined) {
    if (Deferred.isDoneUnsafe(givenUp)) tellCancelled?.()
    return false
  }
  // An end within the negotiation still tells the leg, which is there by then.
  const isAgreed = yield* Effect.raceFirst(conversation.agreed, Effect.as(conversation.over, false))
  if (isAgreed) {
    Deferred.doneUnsafe(leg, Exit.succeed<PhoneLeg>(conversation.leg()))
    yield* conversation.over
  }
  return isAgreed
})

/** Accepts the INVITE; undefined when it had to be refused. */
const answer = Effect.fnUntraced(function* (options: IncomingCallOptions) {
  const { request } = options
  const { message } = request
  const asked = askedOf(message.getHeader("session-expires"), message.getHeader("supported") ?? "")
  if (asked === "tooSmall") return reject(options, 422, ["Min-SE: 90"])
  const made = yield* acquireMedia(options.makeMedia)
  if (Option.isNone(made)) return reject(options, 500)
  const media = made.value
  const isLate = message.body === ""
  const description = isLate ? media.offer() : yield* Effect.promise(() => media.answer(message.body))
  if (description === undefined) return reject(options, 488)
  const conversation = yield* accept(options, media, description, asked)
  if (conversation === undefined) return reject(options, 500)
  const { session } = conversation
  const agreed = options.isProven ? Effect.succeed(true) : proven(session, media)
  return { ...conversation, agreed: isLate ? agreedLate(options, session, media) : agreed }
})

/** 200, and the session it begins; undefined where the transaction does not allow it. */
const accept = Effect.fnUntraced(function* (
  options: IncomingCallOptions,
  media: Media,
  description: string,
  timer: Timer
): Effect.fn.Return<Conversation | undefined, never, Scope.Scope> {
  const { request, sip, sipTrace, timings } = options
  const { callId } = request.message
  const extraHeaders = [`Contact: ${sip.contact}`, allowed, ...(timer === undefined ? [] : [timer.header])]
  const accepted = yield* Effect.option(
    Effect.try(() => sip.enter(() => request.accept({ statusCode: 200, extraHeaders, body: sdpBody(description) })))
  )
  if (Option.isNone(accepted)) return undefined
  const { session } = accepted.value
  const conversation = yield* converse({ callId, sip, session, media, sipTrace, timer: timer?.timer, timings })
  options.onSession(conversation.session)
  return conversation
})

/** Our offer stood in the 200: the answer to it comes in the ACK (RFC 3261, 13.2.1). False when none that fits comes. */
const agreedLate = ({ sipTrace, timings }: IncomingCallOptions, session: SipSession, media: Media) =>
  Deferred.await(session.acknowledged).pipe(
    Effect.flatMap((body) => Effect.promise(() => media.accept(body))),
    Effect.map((fits) => (fits ? undefined : "no codec fits")),
    Effect.timeoutOrElse({ duration: timings.ackMs, orElse: () => Effect.succeed("no ACK") }),
    Effect.map((fault) => {
      if (fault === undefined) return true
      sipTrace.note("no media", fault)
      session.end("closed")
      return false
    })
  )

/**
 * Whoever writes another's address into an INVITE hears neither the tag of our 200 nor the port in it: an ACK or a packet
 * that has them comes from who asked. Until then there is no leg, and so no sound that somebody else would get.
 */
const proven = (session: SipSession, media: Media): Effect.Effect<boolean> =>
  Effect.as(
    Effect.raceFirst(
      Deferred.await(session.acknowledged),
      Effect.promise(() => media.heard)
    ),
    true
  )

/** 180, sent again where the caller wants it acknowledged. */
const ring = Effect.fnUntraced(function* ({ request, sip }: Asked) {
  const { contact } = sip
  const extraHeaders = [`Contact: ${contact}`, allowed]
  if (!needsReliable(request.message)) {
    return void attempt(sip, () => request.progress({ statusCode: 180, extraHeaders }))
  }
  const acknowledged = Deferred.makeUnsafe<void>()
  const send = Effect.sync(() =>
    attempt(sip, () => {
      const { session } = request.progress({
        statusCode: 180,
        extraHeaders: [...extraHeaders, "Require: 100rel", "RSeq: 1"]
      })
      session.delegate = {
        ...session.delegate,
        onPrack: (prack) => {
          Deferred.doneUnsafe(acknowledged, Effect.void)
          attempt(sip, () => prack.accept())
        }
      }
    })
  )
  let waitMs = reliableMs
  for (let goneMs = 0; goneMs <= giveUpMs; goneMs += waitMs / 2) {
    yield* send
    const answered = yield* Effect.timeoutOption(Deferred.await(acknowledged), waitMs)
    if (Option.isSome(answered)) return
    waitMs *= 2
  }
})

const reject = ({ request, sip }: Asked, statusCode: number, extraHeaders: Array<string> = []): undefined => {
  attempt(sip, () => request.reject({ statusCode, extraHeaders }))
}

const needsReliable = (message: IncomingRequestMessage): boolean =>
  message.getHeaders("require").some((value) => /(^|[\s,])100rel($|[\s,])/i.test(value))
