// The MCP servers an agent's draft names, as they are now. Publishing stores where they are beside the configuration,
// with the tools they have then. The hash that is shown covers where they are.
import { McpTool, StoredMcpServer } from "@parley/contract/McpServer"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { configHash } from "../storage/configHash.ts"
import { rowsOf } from "../storage/rows.ts"

/** An MCP server as it is stored. */
export const McpServerRow = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  workspace_id: Schema.String,
  definition: Schema.Unknown,
  content_hash: Schema.String,
  created_at: Schema.Date,
  updated_at: Schema.Date,
  /** Only where it was asked for. */
  used_by: Schema.optionalKey(Schema.Int)
})
export type McpServerRow = typeof McpServerRow.Type

/** A server as a call asks it, with its headers sealed. */
export interface RunnableMcpServer {
  readonly mcp_server_id: string
  readonly definition: StoredMcpServer
  /** As they were when the version was published. Undefined for drafts: they are asked for when a call begins. */
  readonly tools?: ReadonlyArray<McpTool> | undefined
}

/** The column of a version. Versions of before have no tools in it. */
export const StoredMcpServers = Schema.Array(
  Schema.Struct({
    mcp_server_id: Schema.String,
    definition: Schema.Unknown,
    tools: Schema.optionalKey(Schema.Array(McpTool))
  })
)

/** What a call runs of them. */
export const runnableMcpServers = (stored: typeof StoredMcpServers.Type): ReadonlyArray<RunnableMcpServer> =>
  stored.map(({ definition, mcp_server_id, tools }) => ({
    mcp_server_id,
    definition: decodeMcpServer(definition),
    tools
  }))

/** Servers, and the hash of a configuration with them. */
export interface PinnedMcp {
  readonly mcpServers: ReadonlyArray<RunnableMcpServer>
  readonly hash: string
}

/** Dies on a definition that no version of the service wrote. */
export const decodeMcpServer: (stored: unknown) => StoredMcpServer = Schema.decodeUnknownSync(StoredMcpServer)

/** `forShare`: nobody removes one of them before the transaction ends. */
export const findMcpServers = (
  sql: SqlClient.SqlClient,
  workspace: string,
  ids: ReadonlyArray<string>,
  forShare = false
): Effect.Effect<ReadonlyArray<McpServerRow>> =>
  ids.length === 0
    ? Effect.succeed([])
    : mcpServerRows(sql`SELECT * FROM mcp_servers WHERE workspace_id = ${workspace} AND ${sql.in("id", ids)}
        ORDER BY id ${forShare ? sql`FOR SHARE` : sql``}`).pipe(
        // In the order the draft names them.
        Effect.map((rows) => ids.flatMap((id) => rows.filter((row) => row.id === id))),
        Effect.orDie
      )

/** @param hash of draft, tools and knowledge. */
export const pinMcp = (
  sql: SqlClient.SqlClient,
  workspace: string,
  ids: ReadonlyArray<string>,
  hash: string
): Effect.Effect<PinnedMcp> =>
  Effect.map(findMcpServers(sql, workspace, ids), (rows) => ({
    mcpServers: rows.map((row) => ({ mcp_server_id: row.id, definition: decodeMcpServer(row.definition) })),
    hash: rows.length === 0 ? hash : configHash({ agent: hash, mcp: rows.map((row) => [row.id, row.content_hash]) })
  }))

/** Rows of `mcp_servers`, with or without `used_by`. */
export const mcpServerRows = rowsOf("mcp_servers", McpServerRow)
