// From a dialog to a leg: the session that keeps the far side's words, and the leg that is handed out once the codec is
// known. Whichever ends first takes the other along; the media go with them.
import type { Session } from "sip.js/lib/core/index.js"
import type { Media } from "../rtp/Media.ts"
import type { SipTrace } from "./SipTrace.ts"
import type { SessionTimer } from "./sessionTimer.ts"
import type { SipCore } from "./SipCore.ts"
import { SipLeg } from "./SipLeg.ts"
import { SipSession } from "./SipSession.ts"
import type { Waits } from "./waits.ts"

export interface EstablishedOptions {
  readonly callId: string
  readonly sip: SipCore
  readonly session: Session
  readonly media: Media
  readonly sipTrace: SipTrace
  readonly timer: SessionTimer | undefined
  readonly waits: Waits
  /** Once: both sides are done with it. */
  readonly onReleased: () => void
}

export interface Established {
  readonly session: SipSession
  /** The same one each time. */
  readonly leg: () => SipLeg
  /** No leg was handed out, and none will be. */
  readonly abandon: () => void
}

export const establish = (options: EstablishedOptions): Established => {
  const { callId, sipTrace, media, onReleased } = options
  let leg: SipLeg | undefined
  let over: "left" | "lost" | "failed" | undefined
  const early: Array<string> = []
  const session = new SipSession({
    ...options,
    onDigit: (digit) => (leg === undefined ? void early.push(digit) : leg.takeDigit(digit)),
    onOver: (how) => {
      over = how
      if (leg !== undefined) return leg.end(how)
      media.close()
      onReleased()
    }
  })
  return {
    session,
    leg: () => {
      if (leg !== undefined) return leg
      leg = new SipLeg({
        callId,
        media,
        sipTrace,
        hangUp: () => session.hangUp(),
        refer: (target, headers) => session.refer(target, headers),
        onReleased: over === undefined ? onReleased : () => undefined
      })
      for (const digit of early) leg.takeDigit(digit)
      if (over !== undefined) leg.end(over)
      return leg
    },
    abandon: () => {
      if (leg !== undefined || over !== undefined) return
      over = "failed"
      session.hangUp()
      media.close()
      onReleased()
    }
  }
}
