// The `Leg` of a telephone: sound from the media, keys and the end from the signalling. What comes before the
// conversation listens is held.
import type { EndReason } from "@parley/contract/EndReason"
import type { LegListener, Telephone } from "@parley/engine/leg/Leg"
import type { SipTraceLine, PhoneLeg, SipHeaders } from "../phone/Phone.ts"
import type { Media } from "../rtp/Media.ts"
import type { SessionEnd } from "./SipSession.ts"
import type { SipTrace } from "./SipTrace.ts"

/** What a leg needs of its call. */
export interface SipLegOptions {
  readonly callId: string
  readonly media: Media
  readonly sipTrace: SipTrace
  /** Ends the call; `end` of the leg is called in turn. */
  readonly end: (how: SessionEnd) => void
  readonly refer: (target: string, headers: SipHeaders) => Promise<number | null>
}

/** A telephone call as the engine sees it. Synchronous. */
export class SipLeg implements PhoneLeg {
  readonly callId: string
  readonly playRate: number
  readonly telephone: Telephone
  readonly #options: SipLegOptions
  readonly #sound: ReturnType<Media["sound"]>
  #ears: LegListener | undefined
  #digits: Array<string> = []
  #ended: SessionEnd | undefined

  constructor(options: SipLegOptions) {
    this.#options = options
    this.callId = options.callId
    this.#sound = options.media.sound()
    this.playRate = this.#sound.playRate
    this.telephone = {
      sendDigits: (digits) => {
        options.sipTrace.note("keys sent", `${digits.length}`)
        this.#sound.sendDigits(digits)
      },
      refer: async (target, headers) => {
        const status = await options.refer(target, headers)
        return status !== null && status < 300 ? "transferred" : "refused"
      }
    }
  }

  attach(ears: LegListener): void {
    this.#ears = ears
    this.#sound.hear({
      onFrame: ears.onFrame,
      onDigit: (digit) => this.takeDigit(digit),
      onSilent: () => {
        this.#options.sipTrace.note("no media", "20 s")
        this.#options.end("lost")
      }
    })
    for (const digit of this.#digits.splice(0)) ears.onDigit(digit)
    if (this.#ended !== undefined && this.#ended !== "closed") ears.onClosed(this.#ended)
  }

  play(frame: Int16Array | undefined): void {
    if (this.#ended === undefined) this.#sound.play(frame)
  }

  tell(): void {
    // A telephone has no screen.
  }

  close(_reason: EndReason): void {
    if (this.#ended !== undefined) return
    this.#ended = "closed"
    this.#options.end("closed")
  }

  sipTrace(): ReadonlyArray<SipTraceLine> {
    return this.#options.sipTrace.lines()
  }

  takeDigit(digit: string): void {
    if (this.#ended !== undefined) return
    this.#options.sipTrace.note("key", "")
    if (this.#ears === undefined) this.#digits.push(digit)
    else this.#ears.onDigit(digit)
  }

  /** The call is over: nothing is heard, played or told from here on. */
  end(how: SessionEnd): void {
    if (this.#ended !== undefined) return
    this.#ended = how
    if (how !== "closed") this.#ears?.onClosed(how)
  }
}
