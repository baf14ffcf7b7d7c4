// A row of `sessions`, and how the API shows it.
import { EndReason } from "@parley/contract/EndReason"
import { Direction, SessionListItem, SessionSource, SessionStatus } from "@parley/contract/Session"
import type { SessionItem } from "@parley/contract/SessionItem"
import type { DynamicVariables, Overrides } from "@parley/contract/SessionRequest"
import { Schema } from "effect"
import { rowsOf, storedJson } from "../storage/rows.ts"

/** What the creator asked for beyond the record's own columns; fixed when the session is made. */
export interface SessionInput {
  readonly overrides: Overrides
  readonly dynamicVariables: DynamicVariables
  readonly worldContext: boolean
  readonly toolEvents: boolean
  readonly recordAudio: boolean
}

/** A session as it is stored. */
export const SessionRow = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  workspace_id: Schema.String,
  agent_id: Schema.String,
  agent_name: Schema.String,
  preview: Schema.Boolean,
  version_number: Schema.NullOr(Schema.Int),
  /** A preview's own configuration; null when a version is run. */
  config: Schema.Unknown,
  config_hash: Schema.String,
  status: SessionStatus,
  source: SessionSource,
  name: Schema.String,
  end_reason: Schema.NullOr(EndReason),
  direction: Direction,
  dial_status: SessionListItem.fields.dial_status,
  answered_by: Schema.NullOr(Schema.String),
  caller_number: Schema.String,
  dialed_number: Schema.String,
  sip_call_id: Schema.String,
  timezone: Schema.String,
  end_user_id: Schema.String,
  metadata: storedJson<SessionListItem["metadata"]>(),
  request: storedJson<SessionInput>(),
  max_duration_seconds: Schema.Int,
  owner: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  expires_at: Schema.Date,
  started_at: Schema.NullOr(Schema.Date),
  ended_at: Schema.NullOr(Schema.Date),
  duration_seconds: Schema.NullOr(Schema.Int)
})
export type SessionRow = typeof SessionRow.Type

/** A session as a list shows it. */
export const showSession = (row: SessionRow): SessionListItem => ({
  session_id: row.id,
  agent_id: row.agent_id,
  agent_name: row.agent_name,
  status: row.status,
  source: row.source,
  created_at: row.created_at.toISOString(),
  name: row.name,
  end_reason: row.end_reason,
  direction: row.direction,
  dial_status: row.dial_status,
  answered_by: row.answered_by,
  caller_number: row.caller_number,
  dialed_number: row.dialed_number,
  sip_call_id: row.sip_call_id,
  timezone: row.timezone,
  started_at: row.started_at?.toISOString() ?? null,
  ended_at: row.ended_at?.toISOString() ?? null,
  duration_seconds: row.duration_seconds,
  metadata: row.metadata
})

/** Rows of `sessions` with all their columns. */
export const sessionRows = rowsOf("sessions", SessionRow)

/** Items of a session's history. */
export const itemRows = rowsOf("session_items", Schema.Struct({ item: storedJson<SessionItem>() }))
