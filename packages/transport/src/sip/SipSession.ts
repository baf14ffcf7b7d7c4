// A call that is up: what the far side may do within it, and what we do. Its media live and die with it. Everything
// ends in exactly one `onOver`.
import type { IncomingRequestMessage, IncomingResponseMessage, Session } from "sip.js/lib/core/index.js"
import { SessionState } from "sip.js/lib/core/index.js"
import type { SipHeaders } from "../phone/Phone.ts"
import type { Media } from "../rtp/Media.ts"
import type { SipTrace } from "./SipTrace.ts"
import { askedOf, answeredOf, dueSeconds, type SessionTimer } from "./sessionTimer.ts"
import type { SipCore } from "./SipCore.ts"
import type { Waits } from "./waits.ts"

export interface SipSessionOptions {
  readonly sip: SipCore
  readonly session: Session
  readonly media: Media
  readonly sipTrace: SipTrace
  readonly timer: SessionTimer | undefined
  readonly waits: Waits
  readonly onDigit: (digit: string) => void
  /** At most once; not for a hang-up of ours. */
  readonly onOver: (how: "left" | "lost" | "failed") => void
}

const sdpType = "application/sdp"
/** After a re-INVITE met one of theirs (RFC 3261, 14.1): theirs to wait short when the Call-ID is theirs, ours longer. */
const glareMs = [2_100, 4_000] as const

export class SipSession {
  readonly #options: SipSessionOptions
  #over = false
  #timer: SessionTimer | undefined
  #watch: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  /** The body of the ACK to our 200, or to our answer to a re-INVITE. */
  onAcknowledged: ((body: string) => void) | undefined
  #referred: ((status: number | null) => void) | undefined

  constructor(options: SipSessionOptions) {
    this.#options = options
    this.#timer = options.timer
    const { session } = options
    session.delegate = {
      onAck: ({ message }) => {
        this.onAcknowledged?.(message.body)
        this.onAcknowledged = undefined
        if (this.#over) attempt(() => session.bye())
      },
      onAckTimeout: () => {
        this.#options.sipTrace.note("no ACK", "32 s")
        this.#bye()
        this.#finish("failed")
      },
      onBye: (request) => {
        attempt(() => request.accept())
        this.#finish("left")
      },
      onInfo: (request) => {
        const digit = digitIn(request.message)
        attempt(() => request.accept())
        if (digit !== undefined) this.#options.onDigit(digit)
      },
      onInvite: (request) => void this.#reinvited(request),
      onNotify: (request) => {
        attempt(() => request.accept())
        this.#notified(request.message)
      },
      onRefer: (request) => void attempt(() => request.reject({ statusCode: 603 })),
      onMessage: (request) => void attempt(() => request.reject({ statusCode: 415 }))
    }
    this.#restart()
  }

  /** UPDATE is not the core's (RFC 3311): answered here, with the media's consent when it carries an offer. */
  async updated(message: IncomingRequestMessage): Promise<void> {
    const { media, sip } = this.#options
    const offer = message.body
    const answer = offer === "" ? "" : await media.answer(offer)
    if (this.#over) return
    const asked = askedOf(message.getHeader("session-expires"), message.getHeader("supported") ?? "")
    const timer = asked === undefined || asked === "tooSmall" ? undefined : asked
    if (timer !== undefined) this.#timer = timer.timer
    this.#restart()
    attempt(() =>
      sip.core.replyStateless(
        message,
        answer === undefined
          ? { statusCode: 488 }
          : {
              statusCode: 200,
              extraHeaders: [`Contact: ${sip.contact}`, ...(timer === undefined ? [] : [timer.header])],
              ...(answer === "" ? {} : { body: sdpBody(answer) })
            }
      )
    )
  }

  hangUp(): void {
    if (this.#over) return
    this.#over = true
    this.#bye()
    this.#stop()
  }

  /** Nothing was heard for too long, or the flow broke. */
  lose(how: "lost" | "failed"): void {
    if (this.#over) return
    this.#bye()
    this.#finish(how)
  }

  /** The final status of the transfer; null for silence. The call goes on after anything but 2xx. */
  refer(target: string, headers: SipHeaders): Promise<number | null> {
    if (this.#over) return Promise.resolve(null)
    return new Promise((resolve) => {
      const limit = setTimeout(() => done(null), this.#options.waits.referMs)
      const done = (status: number | null): void => {
        clearTimeout(limit)
        this.#referred = undefined
        resolve(status)
      }
      this.#referred = done
      const extraHeaders = [
        `Refer-To: <${target}>`,
        `Referred-By: ${this.#options.sip.contact}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      ]
      const sent = attempt(() =>
        this.#options.session.refer({ onReject: ({ message }) => done(message.statusCode ?? null) }, { extraHeaders })
      )
      if (!sent) done(null)
    })
  }

  /** `SIP/2.0 200 OK` and the like in the body (RFC 3515, 2.4.5). */
  #notified(message: IncomingRequestMessage): void {
    const status = Number(/^SIP\/2\.0\s+(\d{3})/i.exec(message.body.trim())?.[1] ?? 0)
    this.#options.sipTrace.note("transfer", status === 0 ? "no status" : String(status))
    if (status >= 200) this.#referred?.(status)
    else if (/^terminated/i.test(message.getHeader("subscription-state") ?? "")) this.#referred?.(null)
  }

  async #reinvited(request: Parameters<NonNullable<NonNullable<Session["delegate"]>["onInvite"]>>[0]): Promise<void> {
    const { sipTrace, media, sip } = this.#options
    const { message } = request
    const asked = askedOf(message.getHeader("session-expires"), message.getHeader("supported") ?? "")
    if (asked === "tooSmall") {
      return void attempt(() => request.reject({ statusCode: 422, extraHeaders: ["Min-SE: 90"] }))
    }
    const description = message.body === "" ? media.offer() : await media.answer(message.body)
    if (this.#over) return
    if (description === undefined) return void attempt(() => request.reject({ statusCode: 488 }))
    if (asked !== undefined) this.#timer = asked.timer
    this.#restart()
    sipTrace.note("media", media.direction())
    if (message.body === "") this.onAcknowledged = (body) => void media.accept(body)
    attempt(() =>
      request.accept({
        statusCode: 200,
        extraHeaders: [`Contact: ${sip.contact}`, ...(asked === undefined ? [] : [asked.header])],
        body: sdpBody(description)
      })
    )
  }

  // Session timer

  #restart(): void {
    clearTimeout(this.#watch)
    const timer = this.#timer
    if (timer === undefined || this.#over) return
    const due = (): void => {
      if (timer.ours) return this.#refresh()
      this.#options.sipTrace.note("session timer", "not refreshed")
      this.lose("lost")
    }
    this.#watch = setTimeout(due, dueSeconds(timer) * this.#options.waits.secondMs)
  }

  #refresh(): void {
    const { media, session, sip } = this.#options
    const seconds = this.#timer?.seconds ?? 1800
    const extraHeaders = [`Contact: ${sip.contact}`, "Supported: timer", `Session-Expires: ${seconds};refresher=uac`]
    const description = media.current() === "" ? media.offer() : media.current()
    const sent = attempt(() =>
      session.invite(
        {
          onAccept: (response) => {
            attempt(() => response.ack())
            void media.accept(response.message.body)
            this.#timer = answeredOf(response.message.getHeader("session-expires")) ?? this.#timer
            this.#restart()
          },
          onReject: ({ message }) => this.#refused(message)
        },
        { extraHeaders, body: sdpBody(description) }
      )
    )
    if (!sent) this.#restart()
  }

  #refused(message: IncomingResponseMessage): void {
    if (this.#over) return
    if (message.statusCode === 491) {
      const [from, to] = glareMs
      this.#retry = setTimeout(() => this.#refresh(), from + Math.random() * (to - from))
      return
    }
    // Gone, or nobody answers (RFC 3261, 14.1).
    if (message.statusCode === 481 || message.statusCode === 408) return this.lose("lost")
    this.#restart()
  }

  // The end

  #bye(): void {
    const { session } = this.#options
    // A BYE must wait for the ACK of our 200 (RFC 3261, 15): where it may not go yet, it goes then.
    if (session.sessionState !== SessionState.Terminated) attempt(() => session.bye())
  }

  #finish(how: "left" | "lost" | "failed"): void {
    if (this.#over) return
    this.#over = true
    this.#stop()
    this.#options.onOver(how)
  }

  #stop(): void {
    clearTimeout(this.#watch)
    clearTimeout(this.#retry)
    this.#referred?.(null)
  }
}

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
