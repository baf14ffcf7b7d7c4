// A call that we place: tries the trunk's places in order, answers its challenge, waits while it rings, and says how it
// came out (decisions 15). Exactly one outcome; a second answer of a forked call is ended at once.
import type {
  AckableIncomingResponseWithSession,
  IncomingResponseMessage,
  OutgoingInviteRequest
} from "sip.js/lib/core/index.js"
import { URI } from "sip.js/lib/grammar/index.js"
import { Redacted } from "effect"
import type { DialOutcome, DialRequest } from "../phone/Phone.ts"
import type { Media } from "../rtp/Media.ts"
import { establish } from "./established.ts"
import { allowed } from "./Incoming.ts"
import type { SipTrace } from "./SipTrace.ts"
import { hostAndPort } from "./locate.ts"
import { answeredOf } from "./sessionTimer.ts"
import type { SipCore } from "./SipCore.ts"
import { attempt, sdpBody, type SipSession } from "./SipSession.ts"
import type { Waits } from "./waits.ts"

export interface OutgoingOptions {
  readonly request: DialRequest
  readonly callId: string
  readonly sip: SipCore
  readonly media: Media
  readonly sipTrace: SipTrace
  readonly waits: Waits
  readonly onSession: (session: SipSession) => void
  readonly onOutcome: (outcome: DialOutcome) => void
  /** Nothing of the call is left. */
  readonly onOver: () => void
}

/** Seconds, in our own INVITE: a far side that dies is noticed even while it is silent on purpose. */
const sessionSeconds = 1_800

export class Outgoing {
  readonly #options: OutgoingOptions
  #invite: OutgoingInviteRequest | undefined
  #state: "trying" | "ringing" | "cancelling" | "up" | "over" = "trying"
  #timer: NodeJS.Timeout
  #early = new Map<string, string>()
  /** Provisional answers, by whose they are and their number. */
  readonly #acknowledged = new Set<string>()

  constructor(options: OutgoingOptions) {
    this.#options = options
    const { callId, media, request, sip } = options
    this.#timer = setTimeout(() => this.#fail(null), options.waits.deadMs)
    const target = targetOf(request)
    const from = new URI("sip", request.from, hostOf(sip))
    const message = sip.core.makeOutgoingRequestMessage(
      "INVITE",
      target,
      from,
      target,
      { callId },
      [
        `Contact: ${sip.contact}`,
        allowed,
        `Session-Expires: ${sessionSeconds}`,
        ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`)
      ],
      sdpBody(media.offer())
    )
    this.#invite = sip.core.invite(message, {
      onTrying: () => this.#alive(),
      onProgress: (response) => {
        this.#alive()
        const { message: progress } = response
        if (progress.body !== "") this.#early.set(progress.toTag, progress.body)
        // Reliable provisional answers want to be acknowledged, each once (RFC 3262, 4).
        const sequence = /^\d{1,10}$/.exec(progress.getHeader("rseq") ?? "")?.[0]
        if (sequence === undefined || this.#acknowledged.has(`${progress.toTag} ${sequence}`)) return
        this.#acknowledged.add(`${progress.toTag} ${sequence}`)
        attempt(() => response.prack({ extraHeaders: [`RAck: ${sequence} ${progress.cseq} INVITE`] }))
      },
      onAccept: (response) => void this.#accepted(response),
      onRedirect: ({ message: moved }) => this.#fail(moved.statusCode ?? null),
      onReject: ({ message: rejected }) => this.#rejected(rejected)
    })
  }

  cancel(): void {
    if (this.#state !== "trying" && this.#state !== "ringing") return
    this.#state = "cancelling"
    this.#options.sipTrace.note("cancelled", "")
    attempt(() => this.#invite?.cancel())
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#settle("no_answer", null), this.#options.waits.cancelMs)
  }

  #alive(): void {
    if (this.#state !== "trying") return
    this.#state = "ringing"
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.cancel(), this.#options.request.ringSeconds * this.#options.waits.secondMs)
  }

  async #accepted(response: AckableIncomingResponseWithSession): Promise<void> {
    const { callId, sipTrace, media, onOutcome, onSession, sip } = this.#options
    const { message, session } = response
    attempt(() => response.ack())
    if (this.#state === "up" || this.#state === "over" || this.#state === "cancelling") {
      // Another branch of a fork, or an answer that crossed our CANCEL.
      attempt(() => session.bye())
      if (this.#state === "cancelling") this.#settle("no_answer", null)
      return
    }
    this.#state = "up"
    clearTimeout(this.#timer)
    const established = establish({
      callId,
      sip,
      session,
      media,
      sipTrace,
      timer: answeredOf(message.getHeader("session-expires")),
      waits: this.#options.waits,
      onReleased: () => this.#end()
    })
    onSession(established.session)
    const description = message.body === "" ? (this.#early.get(message.toTag) ?? "") : message.body
    if (!(await media.accept(description))) {
      sipTrace.note("no codec fits", "")
      onOutcome({ status: "failed", sipStatus: 488, callId })
      return established.abandon()
    }
    onOutcome({ status: "answered", leg: established.leg(), callId })
  }

  #rejected(message: IncomingResponseMessage): void {
    const status = message.statusCode ?? null
    if (this.#state === "cancelling") return this.#settle("no_answer", status)
    if (status === 486 || status === 600) return this.#settle("busy", status)
    if (status === 408 || status === 480 || status === 487) return this.#settle("no_answer", status)
    this.#settle("failed", status)
  }

  #fail(status: number | null): void {
    this.#settle("failed", status)
  }

  #settle(outcome: "busy" | "no_answer" | "failed", sipStatus: number | null): void {
    if (this.#state === "over" || this.#state === "up") return
    this.#options.media.close()
    this.#options.onOutcome({ status: outcome, sipStatus, callId: this.#options.callId })
    this.#end()
  }

  #end(): void {
    if (this.#state === "over") return
    this.#state = "over"
    clearTimeout(this.#timer)
    this.#options.onOver()
  }
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

export const credentialsOf = (credentials: DialRequest["trunk"]["credentials"]) =>
  credentials === undefined
    ? undefined
    : { username: credentials.username, password: Redacted.value(credentials.password) }
