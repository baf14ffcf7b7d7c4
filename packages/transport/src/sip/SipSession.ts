// The signalling of a call that is up, as a scope: what the far side may do within the dialog, and what we do (RFC 3261,
// 12 to 15). It ends once, for the first reason that comes; closing the scope says BYE unless the far side did, and ends
// its timers and transactions.
import { Deferred, Effect, Exit, FiberHandle, FiberSet, type Scope } from "effect"
import type { IncomingRequestMessage, IncomingResponseMessage, Session } from "sip.js/lib/core/index.js"
import { SessionState } from "sip.js/lib/core/index.js"
import type { SipHeaders, SipTimings } from "../phone/Phone.ts"
import type { Media } from "../rtp/Media.ts"
import type { SipTrace } from "./SipTrace.ts"
import { askedOf, answeredOf, dueSeconds, type SessionTimer } from "./sessionTimer.ts"
import type { SipCore } from "./SipCore.ts"

/** `closed`: by us. `left`: the far side said BYE. `lost`: it is silent or gone. `failed`: the dialog broke. */
export type SessionEnd = "closed" | "left" | "lost" | "failed"

/** A dialog that was accepted, and what it needs. */
export interface SipSessionOptions {
  readonly sip: SipCore
  readonly session: Session
  readonly media: Media
  readonly sipTrace: SipTrace
  /** As agreed in the INVITE; undefined for none. */
  readonly timer: SessionTimer | undefined
  readonly timings: SipTimings
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
  /**
   * Sends a REFER (RFC 3515). Resolves with the status that a NOTIFY or a refusal tells; null for silence within
   * `referMs`, or when the dialog ends before. The call goes on after anything but 2xx.
   */
  readonly refer: (target: string, headers: SipHeaders) => Promise<number | null>
  /** Called once with the body of the ACK to our 200, or to our answer to a re-INVITE. */
  onAcknowledged: ((body: string) => void) | undefined
}

type Reinvite = Parameters<NonNullable<NonNullable<Session["delegate"]>["onInvite"]>>[0]

const sdpType = "application/sdp"
/** After a re-INVITE met one of theirs (RFC 3261, 14.1): 2.1 to 4 s for the owner of the Call-ID; we always wait that long. */
const glareMs = [2_100, 4_000] as const

/** Takes over the dialog until the scope closes. */
export const makeSipSession = Effect.fnUntraced(function* (
  options: SipSessionOptions
): Effect.fn.Return<SipSession, never, Scope.Scope> {
  const { media, session, sip, sipTrace, timings } = options
  const ended = Deferred.makeUnsafe<SessionEnd>()
  const end = (how: SessionEnd): void => void Deferred.doneUnsafe(ended, Exit.succeed(how))
  // Added first, thus run last: the timers and requests below are gone by then.
  yield* Effect.addFinalizer(() => {
    end("failed")
    return Effect.map(Deferred.await(ended), (how) => {
      if (how !== "left") bye(session)
    })
  })
  /** Requests whose answer waits for the media. */
  const requests = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(requests)()
  const timerDue = yield* FiberHandle.make<void>()
  const runTimer = yield* FiberHandle.runtime(timerDue)()
  let timer = options.timer
  let referred: Deferred.Deferred<number | null> | undefined

  const restartTimer = (): void => {
    if (timer === undefined) return
    const { ours } = timer
    const due = Effect.sync(() => {
      if (ours) return refresh()
      sipTrace.note("session timer", "not refreshed")
      end("lost")
    })
    runTimer(Effect.delay(due, dueSeconds(timer) * timings.secondMs))
  }

  /** Our re-INVITE that keeps the session alive (RFC 4028, 7.2). */
  const refresh = (): void => {
    const extraHeaders = [
      `Contact: ${sip.contact}`,
      "Supported: timer",
      `Session-Expires: ${timer?.seconds ?? 1800};refresher=uac`
    ]
    const description = media.current() === "" ? media.offer() : media.current()
    const sent = attempt(() =>
      session.invite(
        {
          onAccept: (response) => {
            attempt(() => response.ack())
            void media.accept(response.message.body)
            timer = answeredOf(response.message.getHeader("session-expires")) ?? timer
            restartTimer()
          },
          onReject: ({ message }) => refreshRefused(message)
        },
        { extraHeaders, body: sdpBody(description) }
      )
    )
    if (!sent) restartTimer()
  }

  const refreshRefused = ({ statusCode }: IncomingResponseMessage): void => {
    const [from, to] = glareMs
    if (statusCode === 491) run(Effect.delay(Effect.sync(refresh), from + Math.random() * (to - from)))
    // Gone, or nobody answers (RFC 3261, 14.1).
    else if (statusCode === 481 || statusCode === 408) end("lost")
    else restartTimer()
  }

  const updated = Effect.fnUntraced(function* (message: IncomingRequestMessage) {
    const offer = message.body
    const answer = offer === "" ? "" : yield* Effect.promise(() => media.answer(offer))
    const asked = askedOf(message.getHeader("session-expires"), message.getHeader("supported") ?? "")
    const agreed = asked === "tooSmall" ? undefined : asked
    if (agreed !== undefined) timer = agreed.timer
    restartTimer()
    const extraHeaders = [`Contact: ${sip.contact}`, ...(agreed === undefined ? [] : [agreed.header])]
    const body = answer === "" || answer === undefined ? {} : { body: sdpBody(answer) }
    attempt(() =>
      sip.core.replyStateless(
        message,
        answer === undefined ? { statusCode: 488 } : { statusCode: 200, extraHeaders, ...body }
      )
    )
  })

  const reinvited = Effect.fnUntraced(function* (request: Reinvite) {
    const { message } = request
    const asked = askedOf(message.getHeader("session-expires"), message.getHeader("supported") ?? "")
    if (asked === "tooSmall") {
      return void attempt(() => request.reject({ statusCode: 422, extraHeaders: ["Min-SE: 90"] }))
    }
    const description = message.body === "" ? media.offer() : yield* Effect.promise(() => media.answer(message.body))
    if (description === undefined) return void attempt(() => request.reject({ statusCode: 488 }))
    if (asked !== undefined) timer = asked.timer
    restartTimer()
    sipTrace.note("media", media.direction())
    if (message.body === "") it.onAcknowledged = (body) => void media.accept(body)
    const extraHeaders = [`Contact: ${sip.contact}`, ...(asked === undefined ? [] : [asked.header])]
    attempt(() => request.accept({ statusCode: 200, extraHeaders, body: sdpBody(description) }))
  })

  /** `SIP/2.0 200 OK` and the like in the body (RFC 3515, 2.4.5). */
  const notified = (message: IncomingRequestMessage): void => {
    const status = Number(/^SIP\/2\.0\s+(\d{3})/i.exec(message.body.trim())?.[1] ?? 0)
    sipTrace.note("transfer", status === 0 ? "no status" : String(status))
    const isOver = /^terminated/i.test(message.getHeader("subscription-state") ?? "")
    if (referred === undefined) return
    if (status >= 200) Deferred.doneUnsafe(referred, Exit.succeed(status))
    else if (isOver) Deferred.doneUnsafe(referred, Exit.succeed(null))
  }

  const it: SipSession = {
    ended,
    end,
    onAcknowledged: undefined,
    updated: (message) => void run(updated(message)),
    refer: (target, headers) => {
      const told = (referred = Deferred.makeUnsafe<number | null>())
      const extraHeaders = [
        `Refer-To: <${target}>`,
        `Referred-By: ${sip.contact}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      ]
      const onReject = ({ message }: { readonly message: IncomingResponseMessage }): void =>
        void Deferred.doneUnsafe(told, Exit.succeed(message.statusCode ?? null))
      const isSent = !Deferred.isDoneUnsafe(ended) && attempt(() => session.refer({ onReject }, { extraHeaders }))
      if (!isSent) return Promise.resolve(null)
      return Effect.raceFirst(Deferred.await(told), Effect.as(Deferred.await(ended), null)).pipe(
        Effect.timeoutOrElse({ duration: timings.referMs, orElse: () => Effect.succeed(null) }),
        Effect.runPromise
      )
    }
  }
  session.delegate = {
    onAck: ({ message }) => {
      it.onAcknowledged?.(message.body)
      it.onAcknowledged = undefined
      // A BYE must wait for the ACK of our 200 (RFC 3261, 15): where it was not allowed before, it goes now.
      if (Deferred.isDoneUnsafe(ended)) bye(session)
    },
    onAckTimeout: () => {
      sipTrace.note("no ACK", "32 s")
      end("failed")
    },
    onBye: (request) => {
      attempt(() => request.accept())
      end("left")
    },
    onInfo: (request) => {
      const digit = digitIn(request.message)
      attempt(() => request.accept())
      if (digit !== undefined) options.onDigit(digit)
    },
    onInvite: (request) => void run(reinvited(request)),
    onNotify: (request) => {
      attempt(() => request.accept())
      notified(request.message)
    },
    onRefer: (request) => void attempt(() => request.reject({ statusCode: 603 })),
    onMessage: (request) => void attempt(() => request.reject({ statusCode: 415 }))
  }
  restartTimer()
  return it
})

const bye = (session: Session): void => {
  if (session.sessionState !== SessionState.Terminated) attempt(() => session.bye())
}

/** A session description as the body of a message (RFC 3261, 13.2.1). */
export const sdpBody = (content: string) => ({ contentDisposition: "session", contentType: sdpType, content })

/** Whether it went without an exception: the core throws where a state does not allow an act. */
export const attempt = (act: () => unknown): boolean => {
  try {
    act()
    return true
  } catch {
    return false
  }
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
