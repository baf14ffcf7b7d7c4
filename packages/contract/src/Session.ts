// A session as the API shows it: what creation returns, the list item, the detail.
import { Schema } from "effect"
import { EndReason } from "./EndReason.ts"
import { moment, text } from "./Field.ts"
import { JournalEntry } from "./Fact.ts"
import { pageFields, PageQuery } from "./Page.ts"
import { SessionAnalysis } from "./SessionAnalysis.ts"
import { SessionItem } from "./SessionItem.ts"
import { TurnLatency } from "./TurnLatency.ts"

/** `pending` until somebody joins, `active` while they talk. */
export const SessionStatus = Schema.Literals(["pending", "active", "completed", "failed", "unknown"])
export type SessionStatus = typeof SessionStatus.Type

/** Who opened the session. */
export const SessionSource = Schema.Literals(["api_key", "dashboard", "public", "phone"])
export type SessionSource = typeof SessionSource.Type

/** Web sessions are `inbound`. */
export const Direction = Schema.Literals(["inbound", "outbound"])

/** Handed to the browser unchanged. `livekit_url` repeats `rtc_url` for clients of that protocol. */
export const SessionTicket = Schema.Struct({
  session_id: Schema.String,
  expires_at: Schema.String,
  max_duration_seconds: Schema.Int,
  transport: Schema.String,
  rtc_url: Schema.String,
  livekit_url: Schema.String,
  token: Schema.String
})
export type SessionTicket = typeof SessionTicket.Type

/** A session as a list shows it. */
export const SessionListItem = Schema.Struct({
  session_id: Schema.String,
  agent_id: Schema.String,
  agent_name: Schema.String,
  status: SessionStatus,
  source: SessionSource,
  created_at: Schema.String,
  /** Empty when none was given. */
  name: Schema.String,
  end_reason: Schema.NullOr(EndReason),
  direction: Direction,
  dial_status: Schema.NullOr(Schema.Literals(["answered", "busy", "no_answer", "failed"])),
  answered_by: Schema.NullOr(Schema.String),
  caller_number: Schema.String,
  dialed_number: Schema.String,
  sip_call_id: Schema.String,
  timezone: Schema.String,
  started_at: Schema.NullOr(Schema.String),
  ended_at: Schema.NullOr(Schema.String),
  duration_seconds: Schema.NullOr(Schema.Int),
  metadata: Schema.Record(Schema.String, Schema.Json)
})
export type SessionListItem = typeof SessionListItem.Type

/** A session with its history, analysis and latency. */
export const SessionDetail = Schema.Struct({
  ...SessionListItem.fields,
  end_user_id: Schema.String,
  /** By `created_at`; ties message, tool_call, tool_result. */
  items: Schema.Array(SessionItem),
  /** Null until post-call analysis is done. */
  analysis: Schema.NullOr(SessionAnalysis),
  /** Of each answered turn, in order. */
  latency: Schema.Array(TurnLatency)
})
export type SessionDetail = typeof SessionDetail.Type

/** Every signal and move of the call, in order. */
export const SessionJournal = Schema.Struct({ session_id: Schema.String, entries: Schema.Array(JournalEntry) })

/** One page, newest first. */
export const SessionPage = Schema.Struct({ sessions: Schema.Array(SessionListItem), ...pageFields })

/** One or more of the values, separated by commas. */
const commaList = (allowed: ReadonlyArray<string>) =>
  Schema.String.check(
    Schema.makeFilter(
      (list: string) =>
        list.split(",").every((value) => allowed.includes(value.trim())) || `must be a list of ${allowed.join(", ")}`
    )
  )

/** Each given field must match; times in ISO 8601. */
export const SessionQuery = {
  agent_id: Schema.optionalKey(text(128)),
  status: Schema.optionalKey(commaList(SessionStatus.literals)),
  end_reason: Schema.optionalKey(commaList(EndReason.literals)),
  direction: Schema.optionalKey(Direction),
  caller_number: Schema.optionalKey(text(64)),
  sip_call_id: Schema.optionalKey(text(512)),
  created_after: Schema.optionalKey(moment),
  created_before: Schema.optionalKey(moment),
  ...PageQuery
}
const SessionQueryStruct = Schema.Struct(SessionQuery)
export type SessionQuery = typeof SessionQueryStruct.Type
