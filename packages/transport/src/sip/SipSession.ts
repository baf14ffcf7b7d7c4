// The signalling of a call that is up, as a scope: what the far side may do within the dialog, and what we do (RFC 3261,
// 12 to 15). It ends once, for the first reason that comes; closing the scope says BYE unless the far side did, and ends
// its timers and transactions.
import { Deferred, Effect, Exit, FiberSet, type Scope } from "effect"
import type { IncomingRequestMessage, Session } from "sip.js/lib/core/index.js"
import { SessionState } from "sip.js/lib/core/index.js"
import { attempt, sdpBody } from "./coreActs.ts"
import type { Dialog } from "./Dialog.ts"
import { makeSessionRefresh, type SessionRefresh } from "./SessionRefresh.ts"
import { askedOf, type SessionTimer } from "./sessionTimer.ts"
import { makeTransfer, type Transfer } from "./Transfer.ts"

/** `closed`: by us. `left`: the far side said BYE. `lost`: it is silent or gone. `failed`: the dialog broke. */
export type SessionEnd = "closed" | "left" | "lost" | "failed"

/** A dialog that was accepted, and what it needs. */
export interface SipSessionOptions extends Dialog {
  /** As agreed in the INVITE; undefined for none. */
  readonly timer: SessionTimer | undefined
  /** A digit that came by SIP INFO. */
  readonly onDigit: (digit: string) => void
}

/** The signalling of a call that is up. */
export interface SipSession {
  /** Why the dialog is over. Whoever owns its scope closes it then. */
  readonly ended: Deferred.Deferred<SessionEnd>
  /** The first reason counts. */
  readonly end: (how: SessionEnd) => void
  /** An UPDATE within the dialog (RFC 3311), which sip.js's core does not know. */
  readonly updated: (message: IncomingRequestMessage) => void
  /** The call goes on after anything but 2xx. */
  readonly refer: Transfer["refer"]
  /** Done with the body of the ACK to our 200. */
  readonly acknowledged: Deferred.Deferred<string>
  /** Called once with the body of the ACK to our answer to a re-INVITE. */
  onAcknowledged: ((body: string) => void) | undefined
}

type Reinvite = Parameters<NonNullable<NonNullable<Session["delegate"]>["onInvite"]>>[0]

/** Takes over the dialog until the scope closes. */
export const makeSipSession = Effect.fnUntraced(function* (
  options: SipSessionOptions
): Effect.fn.Return<SipSession, never, Scope.Scope> {
  const { session, sip, sipTrace } = options
  const ended = Deferred.makeUnsafe<SessionEnd>()
  const end = (how: SessionEnd): void => void Deferred.doneUnsafe(ended, Exit.succeed(how))
  // Added first, thus run last: the timers and requests below are gone by then.
  yield* Effect.addFinalizer(() => {
    end("failed")
    return Effect.map(Deferred.await(ended), (how) => {
      if (how !== "left") bye(options)
    })
  })
  /** Requests whose answer waits for the media. */
  const requests = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(requests)()
  const refresh = yield* makeSessionRefresh({ ...options, run, onLost: () => end("lost") })
  const transfer = makeTransfer(options, ended)

  const it: SipSession = {
    ended,
    end,
    acknowledged: Deferred.makeUnsafe(),
    onAcknowledged: undefined,
    updated: (message) => void run(answerUpdate(options, refresh, message)),
    refer: transfer.refer
  }
  session.delegate = {
    onAck: ({ message }) => {
      Deferred.doneUnsafe(it.acknowledged, Exit.succeed(message.body))
      it.onAcknowledged?.(message.body)
      it.onAcknowledged = undefined
      // A BYE must wait for the ACK of our 200 (RFC 3261, 15): where it was not allowed before, it goes now.
      if (Deferred.isDoneUnsafe(ended)) bye(options)
    },
    onAckTimeout: () => {
      sipTrace.note("no ACK", "32 s")
      end("failed")
    },
    onBye: (request) => {
      attempt(sip, () => request.accept())
      end("left")
    },
    onInfo: (request) => {
      const digit = digitIn(request.message)
      attempt(sip, () => request.accept())
      if (digit !== undefined) options.onDigit(digit)
    },
    onInvite: (request) =>
      void run(answerReinvite(options, refresh, request, (taken) => void (it.onAcknowledged = taken))),
    onNotify: (request) => {
      attempt(sip, () => request.accept())
      transfer.notified(request.message)
    },
    onRefer: (request) => void attempt(sip, () => request.reject({ statusCode: 603 })),
    onMessage: (request) => void attempt(sip, () => request.reject({ statusCode: 415 }))
  }
  refresh.restart()
  return it
})

/** An UPDATE may bring an offer, another session timer, or both. */
const answerUpdate = Effect.fnUntraced(function* (
  { media, sip }: Dialog,
  refresh: SessionRefresh,
  message: IncomingRequestMessage
) {
  const offer = message.body
  const answer = offer === "" ? "" : yield* Effect.promise(() => media.answer(offer))
  const asked = askedOf(message.getHeader("session-expires"), message.getHeader("supported") ?? "")
  const agreed = asked === "tooSmall" ? undefined : asked
  if (agreed !== undefined) refresh.agree(agreed.timer)
  refresh.restart()
  const extraHeaders = [`Contact: ${sip.contact}`, ...(agreed === undefined ? [] : [agreed.header])]
  const body = answer === "" || answer === undefined ? {} : { body: sdpBody(answer) }
  attempt(sip, () =>
    sip.core.replyStateless(
      message,
      answer === undefined ? { statusCode: 488 } : { statusCode: 200, extraHeaders, ...body }
    )
  )
})

/** A re-INVITE without an offer gets ours; its answer then comes with the ACK, which `awaitAck` waits for. */
const answerReinvite = Effect.fnUntraced(function* (
  { media, sip, sipTrace }: Dialog,
  refresh: SessionRefresh,
  request: Reinvite,
  awaitAck: (take: (body: string) => void) => void
) {
  const { message } = request
  const asked = askedOf(message.getHeader("session-expires"), message.getHeader("supported") ?? "")
  if (asked === "tooSmall") {
    return void attempt(sip, () => request.reject({ statusCode: 422, extraHeaders: ["Min-SE: 90"] }))
  }
  const description = message.body === "" ? media.offer() : yield* Effect.promise(() => media.answer(message.body))
  if (description === undefined) return void attempt(sip, () => request.reject({ statusCode: 488 }))
  if (asked !== undefined) refresh.agree(asked.timer)
  refresh.restart()
  sipTrace.note("media", media.direction())
  if (message.body === "") awaitAck((body) => void media.accept(body))
  const extraHeaders = [`Contact: ${sip.contact}`, ...(asked === undefined ? [] : [asked.header])]
  attempt(sip, () => request.accept({ statusCode: 200, extraHeaders, body: sdpBody(description) }))
})

const bye = ({ session, sip }: Dialog): void => {
  if (session.sessionState !== SessionState.Terminated) attempt(sip, () => session.bye())
}

/** `Signal=5` of application/dtmf-relay, or the plain key of application/dtmf. */
const digitIn = (message: IncomingRequestMessage): string | undefined => {
  const type = message.getHeader("content-type")?.toLowerCase() ?? ""
  if (!type.startsWith("application/dtmf")) return undefined
  const signal = type.startsWith("application/dtmf-relay")
    ? /signal\s*=\s*(\S+)/i.exec(message.body)?.[1]
    : message.body.trim()
  const key = { "10": "*", "11": "#" }[signal ?? ""] ?? signal
  return key !== undefined && /^[0-9*#A-D]$/i.test(key) ? key.toUpperCase() : undefined
}
