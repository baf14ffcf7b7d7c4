// What the peers of a telephone call said to each other, message by message; no bodies, no credentials.
import { Schema } from "effect"

/** One SIP message. */
export const SipTraceLine = Schema.Struct({
  /** From the first. */
  at_ms: Schema.Int,
  direction: Schema.Literals(["in", "out", "note"]),
  /** `INVITE`, `180 Ringing`, `ACK`; or what was noticed. */
  what: Schema.String,
  detail: Schema.String
})
export type SipTraceLine = typeof SipTraceLine.Type

/** The SIP messages of a call, in order. */
export const SessionSipTrace = Schema.Struct({ session_id: Schema.String, lines: Schema.Array(SipTraceLine) })
export type SessionSipTrace = typeof SessionSipTrace.Type
