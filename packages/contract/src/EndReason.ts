// Why a session ended, and which terminal status each reason gives. The list may grow: readers treat an unknown value
// as information.
import { Schema } from "effect"

/** `failed` comes of `room_join_timeout`, `cancelled` and `dial_failed`; the others of a call that was up. */
export const EndReason = Schema.Literals([
  "user_hangup",
  "agent_hangup",
  "escalated",
  "conversation_timeout",
  "heartbeat_timeout",
  "agent_join_timeout",
  "internal_error",
  "llm_endpoint_failure",
  "room_join_timeout",
  "cancelled",
  "dial_failed"
])
export type EndReason = typeof EndReason.Type

/** Nobody ever connected: the session is `failed`. Every other reason ends a `completed` session. */
const neverConnected: ReadonlySet<EndReason> = new Set<EndReason>(["room_join_timeout", "cancelled", "dial_failed"])

/** The status a session has after it ended for this reason. */
export const statusOf = (reason: EndReason): "completed" | "failed" =>
  neverConnected.has(reason) ? "failed" : "completed"
