// What the engine reports of a call while it lives, in order. The engine forgets a fact once told;
// the workspace remembers it. Facts carry transcripts: they are stored, never logged.
import { Schema } from "effect"
import { EndReason } from "./EndReason.ts"
import { SessionItem } from "./SessionItem.ts"
import { TurnLatency } from "./TurnLatency.ts"

/** One line of the journal: a signal that came in, a move that was decided, or a failure met. `at_ms` counts from the call's start. */
export const JournalEntry = Schema.Struct({
  at_ms: Schema.Number,
  kind: Schema.Literals(["signal", "move", "fault", "note"]),
  name: Schema.String,
  /** Everything `TurnTaking` needs to replay the signal; small JSON. */
  data: Schema.Record(Schema.String, Schema.Unknown)
})
export type JournalEntry = typeof JournalEntry.Type

/** The item with this key (message `id`; `call_id` with type for tools) is new, or replaces the one told before (an answer cut to what was heard). */
export const ItemRecorded = Schema.TaggedStruct("ItemRecorded", { item: SessionItem })
/** The latency of an answered turn. */
export const TurnMeasured = Schema.TaggedStruct("TurnMeasured", { latency: TurnLatency })
/** A signal or a move of the call. */
export const Journaled = Schema.TaggedStruct("Journaled", { entry: JournalEntry })
/** The last fact but for the results of tools that outlive the call. */
export const CallEnded = Schema.TaggedStruct("CallEnded", { reason: EndReason, at: Schema.String })

/** What a call tells its record, in order. */
export const Fact = Schema.Union([ItemRecorded, TurnMeasured, Journaled, CallEnded])
export type Fact = typeof Fact.Type
