// A call that comes in: rings, is answered or refused, or is given up by the caller. One core, one flow, one pair of
// media ports; all of it goes with the call.
import type { IncomingInviteRequest, IncomingRequestMessage } from "sip.js/lib/core/index.js"
import type { IncomingCall, PhoneLeg } from "../phone/Phone.ts"
import type { Media } from "../rtp/Media.ts"
import { establish, type Established } from "./established.ts"
import type { SipTrace } from "./SipTrace.ts"
import { askedOf } from "./sessionTimer.ts"
import type { SipCore } from "./SipCore.ts"
import { attempt, sdpBody, type SipSession } from "./SipSession.ts"
import type { Waits } from "./waits.ts"

export interface IncomingOptions {
  readonly request: IncomingInviteRequest
  readonly sip: SipCore
  readonly sipTrace: SipTrace
  readonly waits: Waits
  readonly trunkId: string
  readonly callerNumber: string
  readonly dialedNumber: string
  readonly makeMedia: (onNote: (what: string, detail: string) => void) => Promise<Media>
  readonly onSession: (session: SipSession) => void
  /** Nothing of the call is left. `legLess` when no leg was ever handed out. */
  readonly onOver: (legLess: boolean) => void
}

export const allowed = "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, NOTIFY, PRACK, REFER, UPDATE"
/** A 180 that must be acknowledged is sent again until it is (RFC 3262, 3). */
const reliableMs = 500
const giveUpMs = 32_000

export class Incoming implements IncomingCall {
  readonly trunkId: string
  readonly callId: string
  readonly callerNumber: string
  readonly dialedNumber: string
  readonly #options: IncomingOptions
  #state: "ringing" | "answering" | "up" | "over" = "ringing"
  #rung = false
  #cancelled: (() => void) | undefined
  #reliable: NodeJS.Timeout | undefined

  constructor(options: IncomingOptions) {
    this.#options = options
    this.trunkId = options.trunkId
    this.callId = options.request.message.callId
    this.callerNumber = options.callerNumber
    this.dialedNumber = options.dialedNumber
    options.request.delegate = {
      onCancel: () => {
        attempt(() => options.request.reject({ statusCode: 487 }))
        this.#giveUp()
      },
      onTransportError: () => this.#giveUp()
    }
  }

  ring(): void {
    if (this.#state !== "ringing" || this.#rung) return
    this.#rung = true
    const { request, sip } = this.#options
    const extraHeaders = [`Contact: ${sip.contact}`, allowed]
    if (needsReliable(request.message)) return this.#ringReliably(reliableMs, performance.now())
    attempt(() => request.progress({ statusCode: 180, extraHeaders }))
  }

  refuse(status: 404 | 480 | 486 | 488 | 500 | 503): void {
    if (this.#state !== "ringing") return
    this.#reject(status, status === 503 ? ["Retry-After: 10"] : [])
  }

  onCancelled(tell: () => void): void {
    this.#cancelled = tell
  }

  async answer(): Promise<PhoneLeg | undefined> {
    if (this.#state !== "ringing") return undefined
    this.#state = "answering"
    const { sipTrace, makeMedia, request } = this.#options
    const { message } = request
    const asked = askedOf(message.getHeader("session-expires"), message.getHeader("supported") ?? "")
    if (asked === "tooSmall") return this.#reject(422, ["Min-SE: 90"])
    const media = await makeMedia((what, detail) => sipTrace.note(what, detail)).catch(() => undefined)
    if (media === undefined) return this.#reject(500, [])
    const late = message.body.trim() === ""
    const description = late ? media.offer() : await media.answer(message.body)
    if (description === undefined || this.#isOver()) {
      media.close()
      return this.#reject(488, [])
    }
    const established = this.#accept(media, description, asked)
    if (established === undefined) {
      media.close()
      return this.#reject(500, [])
    }
    return late ? this.#whenAcknowledged(established, media) : established.leg()
  }

  #accept(media: Media, description: string, timer: Exclude<ReturnType<typeof askedOf>, "tooSmall">) {
    const { sipTrace, request, sip } = this.#options
    let established: Established | undefined
    attempt(() => {
      const { session } = request.accept({
        statusCode: 200,
        extraHeaders: [`Contact: ${sip.contact}`, allowed, ...(timer === undefined ? [] : [timer.header])],
        body: sdpBody(description)
      })
      this.#state = "up"
      clearTimeout(this.#reliable)
      established = establish({
        callId: this.callId,
        sip,
        session,
        media,
        sipTrace,
        timer: timer?.timer,
        waits: this.#options.waits,
        onReleased: () => this.#end(false)
      })
      this.#options.onSession(established.session)
    })
    return established
  }

  /** Our offer is answered in the ACK (RFC 3261, 13.2.1). */
  #whenAcknowledged(established: Established, media: Media): Promise<PhoneLeg | undefined> {
    return new Promise((resolve) => {
      const fail = (why: string): void => {
        clearTimeout(limit)
        this.#options.sipTrace.note("no media", why)
        established.abandon()
        resolve(undefined)
      }
      const limit = setTimeout(() => fail("no ACK"), this.#options.waits.ackMs)
      established.session.onAcknowledged = async (body) => {
        clearTimeout(limit)
        if (await media.accept(body)) resolve(established.leg())
        else fail("no codec fits")
      }
    })
  }

  #ringReliably(waitMs: number, beganMs: number): void {
    const { request, sip } = this.#options
    if (this.#state !== "ringing" || performance.now() - beganMs > giveUpMs) return
    const extraHeaders = [`Contact: ${sip.contact}`, allowed, "Require: 100rel", "RSeq: 1"]
    attempt(() => {
      const { session } = request.progress({ statusCode: 180, extraHeaders })
      session.delegate = {
        ...session.delegate,
        onPrack: (prack) => {
          clearTimeout(this.#reliable)
          attempt(() => prack.accept())
        }
      }
    })
    this.#reliable = setTimeout(() => this.#ringReliably(waitMs * 2, beganMs), waitMs)
  }

  #isOver(): boolean {
    return this.#state === "over"
  }

  #giveUp(): void {
    if (this.#state === "over" || this.#state === "up") return
    this.#end(true)
    this.#cancelled?.()
  }

  #reject(statusCode: number, extraHeaders: Array<string>): undefined {
    if (this.#state === "over") return
    attempt(() => this.#options.request.reject({ statusCode, extraHeaders }))
    this.#end(true)
  }

  #end(legLess: boolean): void {
    if (this.#state === "over") return
    this.#state = "over"
    clearTimeout(this.#reliable)
    this.#options.onOver(legLess)
  }
}

const needsReliable = (message: IncomingRequestMessage): boolean =>
  message.getHeaders("require").some((value) => /(^|[\s,])100rel($|[\s,])/i.test(value))
