// A dialog that was accepted (RFC 3261, 12), and what belongs to it.
import type { Session } from "sip.js/lib/core/index.js"
import type { SipTimings } from "../phone/Phone.ts"
import type { Media } from "../rtp/Media.ts"
import type { SipTrace } from "./SipTrace.ts"
import type { SipCore } from "./SipCore.ts"

/** A dialog with its media and its trace. */
export interface Dialog {
  readonly sip: SipCore
  readonly session: Session
  readonly media: Media
  readonly sipTrace: SipTrace
  readonly timings: SipTimings
}
