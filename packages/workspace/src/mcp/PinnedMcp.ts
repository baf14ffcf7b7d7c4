// The MCP servers an agent's draft names, as they are now. Publishing stores where they are beside the configuration;
// which tools they have is asked when a call starts. The hash that is shown covers them.
import { StoredMcpServer } from "@parley/contract/McpServer"
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
}

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
