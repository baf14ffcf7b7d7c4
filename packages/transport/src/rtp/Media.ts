// The media of one telephone call as its signalling sees it: SDP in, SDP out, and the sound behind it (RFC 3264).
// One per dialog; holds a pair of UDP ports from its making until `close`.
import type { Leg } from "@parley/engine/leg/Leg"
import type { MediaDirection } from "./sdp.ts"

/** What the media of a call need from its signalling. */
export interface MediaOptions {
  /** Address in `c=`. */
  readonly address: string
  /** Address the sockets are bound to. */
  readonly bind: string
  readonly ports: readonly [min: number, max: number] | undefined
  /** SDES keys (RFC 4568) are offered and asked for; on TLS trunks only. */
  readonly secure: boolean
  /** The address the far side's signalling comes from. */
  readonly peer: string
  /** Whether packets may be sent to this IP address. */
  readonly mayReach: (address: string) => boolean
  readonly nowMs?: (() => number) | undefined
  /** For the trace of the call: media moved to another port, a codec was chosen. */
  readonly onNote: (what: string, detail: string) => void
}

/** The media of one dialog. Nothing throws; what is not understood is dropped. */
export interface Media {
  /** An offer of our own: for a call we place, and for an INVITE without one. */
  readonly offer: () => string
  /** Answers the far side's offer, first or in a re-INVITE; undefined when nothing fits (488). */
  readonly answer: (offer: string) => Promise<string | undefined>
  /** Takes the answer to our offer; false when nothing fits. */
  readonly accept: (answer: string) => Promise<boolean>
  /** Our latest description again, for a re-INVITE without a change (session refresh). */
  readonly current: () => string
  /** Ours, as agreed: `recvonly` and `inactive` are being held. */
  readonly direction: () => MediaDirection
  /** Resolves at the first packet of the far side's; never where none comes. */
  readonly heard: Promise<void>
  /** Once a codec is known: the sound of the leg. `close` and `tell` of it end nothing but the sound. */
  readonly sound: () => MediaSound
  readonly close: () => void
}

/** The part of a `Leg` that is sound. Frames to and from the engine as `Leg` says. */
export interface MediaSound extends Pick<Leg, "playRate" | "play"> {
  readonly hear: (listener: {
    readonly onFrame: (samples: Int16Array) => void
    readonly onDigit: (digit: string) => void
    /** Nothing at all came for 20 s, while the far side did not hold us. */
    readonly onSilent: () => void
  }) => void
  readonly sendDigits: (digits: string) => void
}
