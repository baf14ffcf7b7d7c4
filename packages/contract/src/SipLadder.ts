// What the peers of a telephone call said to each other, message by message; no bodies, no credentials.
import { Schema } from "effect"

export const LadderLine = Schema.Struct({
  /** From the first. */
  at_ms: Schema.Int,
  direction: Schema.Literals(["in", "out", "note"]),
  /** `INVITE`, `180 Ringing`, `ACK`; or what was noticed. */
  what: Schema.String,
  detail: Schema.String
})
export type LadderLine = typeof LadderLine.Type

export const SessionLadder = Schema.Struct({ session_id: Schema.String, lines: Schema.Array(LadderLine) })
export type SessionLadder = typeof SessionLadder.Type
