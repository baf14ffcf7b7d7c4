// What endpoints are told of a session. The names differ from those of the sessions API; transcripts are never in it.
import type { WebhookEvent } from "../webhooks/Outbox.ts"
import type { SessionRow } from "./SessionRow.ts"

const sessionFacts = (row: SessionRow) => ({
  id: row.id,
  agent_id: row.agent_id,
  branch_id: null,
  source: row.source,
  status: row.status,
  end_reason: row.end_reason,
  direction: row.direction,
  dial_status: row.direction === "outbound" ? row.dial_status : null,
  answered_by: row.direction === "outbound" ? row.answered_by : null,
  caller_number: row.caller_number,
  dialed_number: row.dialed_number,
  sip_call_id: row.sip_call_id,
  batch_call_id: null,
  conversation_started_at: row.started_at?.toISOString() ?? null,
  conversation_ended_at: row.ended_at?.toISOString() ?? null,
  duration_seconds: row.duration_seconds,
  end_user_id: row.end_user_id,
  metadata: row.metadata,
  agent_name: row.agent_name,
  config_hash: row.config_hash
})

/** The extra fields of the event stand beside the session's facts. */
export const eventBody = (event: WebhookEvent, row: SessionRow, extra: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ event, session: sessionFacts(row), ...extra })

/** The body of `phone_call.dial_finished`. On an answered call it is over before the conversation is: its end and duration are not known yet. */
export const dialFinished = (row: SessionRow): string =>
  eventBody("phone_call.dial_finished", row, { dial_status: row.dial_status, answered_by: row.answered_by })

/** The body of `call.ended`. */
export const callEnded = (row: SessionRow): string => eventBody("call.ended", row, { ended_reason: row.end_reason })
