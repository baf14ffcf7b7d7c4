// What a configuration names beside itself: tools, revisions of knowledge, MCP servers. A draft has them as they are
// now; a version and a batch of tests keep them as they were. The hash covers them all.
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { pinKnowledge, PinnedSource } from "../knowledge/PinnedKnowledge.ts"
import { pinMcp, type RunnableMcpServer, StoredMcpServers } from "../mcp/PinnedMcp.ts"
import { pinTools } from "../tools/PinnedTools.ts"
import { decodeTool, type RunnableTool } from "../tools/ToolRow.ts"
import { decodeConfig } from "./AgentRow.ts"

/** Tools, knowledge and MCP servers of one configuration. */
export interface PinnedParts {
  readonly tools: ReadonlyArray<RunnableTool>
  readonly knowledge: ReadonlyArray<PinnedSource>
  readonly mcpServers: ReadonlyArray<RunnableMcpServer>
  /** Of the configuration and its parts. */
  readonly hash: string
}

/** As they are now. @param draftHash of the configuration alone */
export const pinParts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspace: string,
  { knowledge_base, tools }: StoredConfig,
  draftHash: string
): Effect.fn.Return<PinnedParts> {
  const pinned = yield* pinTools(sql, workspace, tools.tool_ids, draftHash)
  const known = yield* pinKnowledge(sql, workspace, knowledge_base.knowledge_source_ids, pinned.hash)
  return { ...pinned, ...known, ...(yield* pinMcp(sql, workspace, tools.mcp_server_ids ?? [], known.hash)) }
})

/** The columns in which a version or a batch keeps them. */
const storedParts = {
  config: Schema.Unknown,
  tools: Schema.Array(Schema.Struct({ tool_id: Schema.String, definition: Schema.Unknown })),
  knowledge: Schema.Array(PinnedSource)
}
/** The columns in which a batch of tests keeps them. */
export const StoredParts = Schema.Struct(storedParts)

/** With MCP servers, which a batch of tests does not ask. */
export const StoredVersionParts = Schema.Struct({
  ...storedParts,
  mcp_servers: StoredMcpServers
})

/** What a call runs of them. */
export const runnableParts = ({ config, tools }: typeof StoredParts.Type) => ({
  config: decodeConfig(config),
  tools: tools.map(({ definition, tool_id }) => ({ tool_id, definition: decodeTool(definition) }))
})
