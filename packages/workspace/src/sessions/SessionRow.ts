// A row of `sessions`, and how the API shows it.
import type { EndReason } from "@parley/contract/EndReason"
import type { SessionListItem, SessionSource, SessionStatus } from "@parley/contract/Session"
import type { DynamicVariables, Overrides } from "@parley/contract/SessionRequest"

/** What the creator asked for beyond the record's own columns; fixed when the session is made. */
export interface SessionInput {
  readonly overrides: Overrides
  readonly dynamicVariables: DynamicVariables
  readonly worldContext: boolean
  readonly toolEvents: boolean
  readonly recordAudio: boolean
}

export interface SessionRow {
  readonly seq: bigint
  readonly id: string
  readonly workspace_id: string
  readonly agent_id: string
  readonly agent_name: string
  readonly preview: boolean
  readonly version_number: number | null
  /** A preview's own configuration; null when a version is run. */
  readonly config: unknown
  readonly config_hash: string
  readonly status: SessionStatus
  readonly source: SessionSource
  readonly name: string
  readonly end_reason: EndReason | null
  readonly direction: SessionListItem["direction"]
  readonly dial_status: SessionListItem["dial_status"]
  readonly answered_by: string | null
  readonly caller_number: string
  readonly dialed_number: string
  readonly sip_call_id: string
  readonly timezone: string
  readonly end_user_id: string
  readonly metadata: SessionListItem["metadata"]
  readonly request: SessionInput
  readonly max_duration_seconds: number
  readonly owner: string | null
  readonly created_at: Date
  readonly expires_at: Date
  readonly started_at: Date | null
  readonly ended_at: Date | null
  readonly duration_seconds: number | null
}

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
