// What was erased of calls for good. The records of the sessions stay, without anything personal: their times, their
// length and how they ended, which is what was charged.
import { Schema } from "effect"

/** How much of each there was and is no more; zeros where everything was erased before. */
export const Erased = Schema.Struct({
  /** Sessions that were not erased before. */
  sessions: Schema.Int,
  /** Messages, tool calls and their results. */
  items: Schema.Int,
  journal_entries: Schema.Int,
  /** Tracks, with their sound. */
  recordings: Schema.Int,
  analyses: Schema.Int,
  /** Webhook deliveries, with what was sent and answered; those that still waited are not sent. */
  webhook_deliveries: Schema.Int,
  sip_traces: Schema.Int
})
export type Erased = typeof Erased.Type
