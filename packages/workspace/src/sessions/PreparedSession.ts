// What a session runs: the version it was made for, with its tools and what it knows; of a preview the draft it was
// made from.
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { decodeConfig } from "../agents/AgentRow.ts"
import { pinParts, runnableParts, StoredVersionParts } from "../agents/PinnedParts.ts"
import { type CallKnowledge, knowledgeFor } from "../knowledge/PinnedKnowledge.ts"
import { type RunnableMcpServer, runnableMcpServers } from "../mcp/PinnedMcp.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"
import type { RunnableTool } from "../tools/ToolRow.ts"
import type { SessionRow } from "./SessionRow.ts"

/** A session that someone has just joined, with the configuration it runs (secrets sealed). */
export interface ClaimedSession {
  readonly row: SessionRow
  readonly config: StoredConfig
  /** In the order the configuration names them. */
  readonly tools: ReadonlyArray<RunnableTool>
  readonly knowledge: CallKnowledge
  /** Of a draft they are to be asked for their tools. */
  readonly mcpServers: ReadonlyArray<RunnableMcpServer>
}

/** Dies when the session's version is not there: versions are never deleted. */
export const prepareSession = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  row: SessionRow
): Effect.fn.Return<ClaimedSession> {
  if (row.config !== null) {
    const config = decodeConfig(row.config)
    const { knowledge, mcpServers, tools } = yield* pinParts(sql, row.workspace_id, config, row.config_hash)
    return { row, config, tools, knowledge: yield* knowledgeFor(sql, config.knowledge_base, knowledge), mcpServers }
  }
  const version = yield* versionRows(sql`SELECT config, tools, knowledge, mcp_servers FROM agent_versions
    WHERE agent_id = ${row.agent_id} AND version_number = ${row.version_number}`).pipe(onlyRow, Effect.orDie)
  const { config, tools } = runnableParts(version)
  const knowledge = yield* knowledgeFor(sql, config.knowledge_base, version.knowledge)
  return { row, config, tools, knowledge, mcpServers: runnableMcpServers(version.mcp_servers) }
})

const versionRows = rowsOf("agent_versions", StoredVersionParts)
