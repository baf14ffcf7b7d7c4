// Rows of `agents`: how one is found, and what of it the API shows. A deleted agent is not found.
import { type Agent, AgentStatus, OverrideName, PublicField } from "@parley/contract/Agent"
import { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { finder, type FindRecord } from "../storage/records.ts"
import { rowsOf } from "../storage/rows.ts"

/** What a list shows of an agent; the draft may be long. */
const ShownAgent = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  workspace_id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  status: AgentStatus,
  public_enabled: Schema.Boolean,
  allowed_origins: Schema.Array(Schema.String),
  overrides_allowed: Schema.Array(OverrideName),
  public_fields_allowed: Schema.Array(PublicField),
  live_version: Schema.NullOr(Schema.Int),
  created_at: Schema.Date,
  updated_at: Schema.Date
})
/** An agent without its draft. */
export type ShownAgent = typeof ShownAgent.Type

/** The columns of a `ShownAgent`. */
export const shownColumns = Object.keys(ShownAgent.fields).join(", ")

const AgentRow = Schema.Struct({
  ...ShownAgent.fields,
  /** For `decodeConfig`. */
  draft: Schema.Unknown,
  draft_hash: Schema.String,
  draft_updated_at: Schema.Date
})
/** An agent with its draft. */
export type AgentRow = typeof AgentRow.Type

/** Rows of `agents` with all their columns. */
export const agentRows = rowsOf("agents", AgentRow)

/** Rows of `agents` with `shownColumns`. */
export const shownAgents = rowsOf("agents", ShownAgent)

/** Finds an agent with its draft. */
export const agentFinder = (sql: SqlClient.SqlClient): FindRecord<AgentRow> =>
  finder(sql, { table: "agents", noun: "Agent", read: agentRows, where: sql`t.deleted_at IS NULL` })

/** Without the draft. */
export const shownAgentFinder = (sql: SqlClient.SqlClient): FindRecord<ShownAgent> =>
  finder(sql, {
    table: "agents",
    noun: "Agent",
    read: shownAgents,
    columns: sql.literal(shownColumns),
    where: sql`t.deleted_at IS NULL`
  })

/** Fields added since the config was stored take their defaults. Its values were checked before. */
export const decodeConfig = (stored: unknown): StoredConfig =>
  Option.getOrElse(completeConfig(stored), () => olderConfig(stored))

/** Most have every field already: without the search for what is missing, decoding is up to ten times faster. */
const completeConfig = Schema.decodeUnknownOption(Schema.toType(StoredConfig), { disableChecks: true })
const olderConfig = Schema.decodeUnknownSync(StoredConfig, { disableChecks: true })

/** An agent as the API shows it. */
export const showAgent = (row: ShownAgent): Agent => ({
  agent_id: row.id,
  workspace_id: row.workspace_id,
  name: row.name,
  description: row.description,
  status: row.status,
  publication_state: row.live_version === null ? "draft" : "live",
  public_enabled: row.public_enabled,
  allowed_origins: row.allowed_origins,
  overrides_allowed: row.overrides_allowed,
  public_fields_allowed: row.public_fields_allowed,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString()
})
