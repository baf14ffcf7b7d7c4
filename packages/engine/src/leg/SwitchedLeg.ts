// A caller's leg that can be taken from the conversation for a while: put on hold, spoken to, or joined with another
// leg. The conversation keeps playing and hears nothing meanwhile. Plain calls on the media thread.
import type { Leg, LegListener, LegMessage, Telephone } from "./Leg.ts"
import type { EndReason } from "@parley/contract/EndReason"

/** Frames to be played; false for silence. */
export interface FrameSource {
  readonly read: (frame: Int16Array) => boolean
}

/** Who has the leg while the conversation has not. */
export interface Holder {
  readonly source: FrameSource
  readonly onFrame?: ((samples: Int16Array) => void) | undefined
  readonly onDigit?: ((digit: string) => void) | undefined
}

/** The leg that a conversation of a telephone call holds; without a holder it is the leg itself. */
export class SwitchedLeg implements Leg {
  readonly playRate: number
  readonly telephone: Telephone | undefined
  readonly #leg: Leg
  readonly #frame: Int16Array
  #holder: Holder | undefined
  /** The call was handed to somebody else: its end is no hang-up on the agent. */
  handedOver = false

  constructor(leg: Leg) {
    this.#leg = leg
    this.playRate = leg.playRate
    this.telephone = leg.telephone
    this.#frame = new Int16Array(leg.playRate / 50)
  }

  /** Until it is given back. */
  take(holder: Holder): void {
    this.#holder = holder
  }

  /** Until the end: what is played is somebody else's voice, and the call's end is no hang-up on the agent. */
  handOver(holder: Holder): void {
    this.handedOver = true
    this.#leg.joined?.()
    this.take(holder)
  }

  /** The conversation has the leg again. */
  giveBack(): void {
    this.#holder = undefined
  }

  attach(listener: LegListener): void {
    this.#leg.attach({
      onFrame: (samples) => {
        if (this.#holder === undefined) listener.onFrame(samples)
        else this.#holder.onFrame?.(samples)
      },
      onEvent: listener.onEvent,
      onDigit: (digit) => {
        if (this.#holder === undefined) listener.onDigit(digit)
        else this.#holder.onDigit?.(digit)
      },
      onClosed: listener.onClosed
    })
  }

  play(frame: Int16Array | undefined): void {
    if (this.#holder === undefined) return this.#leg.play(frame)
    this.#leg.play(this.#holder.source.read(this.#frame) ? this.#frame : undefined)
  }

  tell(message: LegMessage): void {
    this.#leg.tell(message)
  }

  close(reason: EndReason): void {
    this.#leg.close(reason)
  }
}
