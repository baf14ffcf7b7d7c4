// MCP servers of a workspace: where an agent finds tools that are described elsewhere (Model Context Protocol,
// Streamable HTTP). Header values are sent exactly as stored; no variable renders in them.
import { type Redacted, Schema } from "effect"
import { text, textBetween, listOf, wholeBetween } from "./Field.ts"
import { pageFields, PageQuery } from "./Page.ts"
import { HeaderKind, ToolHeaderInput } from "./Tool.ts"

/** What one session offers its model. */
export const mcpToolsPerSession = 64
/** Characters of a tool's description that reach a model. */
export const mcpDescriptionChars = 1_024
/** Bytes of a tool's parameters as JSON. A tool with more is left out. */
export const mcpSchemaBytes = 65_536

const fields = {
  headers: Schema.optionalKey(listOf(ToolHeaderInput, 50)),
  timeout_seconds: Schema.optionalKey(wholeBetween(1, 120))
}

/** A server as it is sent. */
export const McpServerCreate = Schema.Struct({ name: textBetween(1, 120), url: textBetween(1, 4000), ...fields })
export type McpServerCreate = typeof McpServerCreate.Type

/** What is omitted stays; null is refused; headers are replaced whole, values kept as a tool's are. */
export const McpServerPatch = Schema.Struct({
  name: Schema.optionalKey(textBetween(1, 120)),
  url: Schema.optionalKey(textBetween(1, 4000)),
  ...fields
})
export type McpServerPatch = typeof McpServerPatch.Type

const definition = { name: Schema.String, url: Schema.String, timeout_seconds: Schema.Int }

/** As it is kept: header values sealed. */
export const StoredMcpServer = Schema.Struct({
  ...definition,
  headers: Schema.Array(Schema.Struct({ name: Schema.String, kind: HeaderKind, value: Schema.String }))
})
export type StoredMcpServer = typeof StoredMcpServer.Type

/** A server as it is returned, header values left out. */
export const McpServer = Schema.Struct({
  mcp_server_id: Schema.String,
  workspace_id: Schema.String,
  ...definition,
  headers: Schema.Array(
    Schema.Struct({ name: Schema.String, kind: HeaderKind, value: Schema.Null, has_secret: Schema.Boolean })
  ),
  /** Agents whose draft names it. */
  used_by: Schema.Int,
  created_at: Schema.String,
  updated_at: Schema.String
})
export type McpServer = typeof McpServer.Type

/** One page, newest first. */
export const McpServerPage = Schema.Struct({ mcp_servers: Schema.Array(McpServer), ...pageFields })

/** `search`: part of the name. */
export const McpServerQuery = { search: Schema.optionalKey(text(256)), ...PageQuery }

/** A tool as its server describes it. */
export const McpTool = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  /** JSON Schema, as the server gives it. */
  parameters: Schema.Record(Schema.String, Schema.Unknown)
})
export type McpTool = typeof McpTool.Type

/** How the tools differ from those an agent was published with: by their names. */
export const McpToolChanges = Schema.Struct({
  agent_id: Schema.String,
  agent_name: Schema.String,
  added: Schema.Array(Schema.String),
  removed: Schema.Array(Schema.String),
  changed: Schema.Array(Schema.String)
})

/** The tools the server has now, and agents that were published with others. */
export const McpServerTools = Schema.Struct({
  mcp_server_id: Schema.String,
  tools: Schema.Array(McpTool),
  changes: Schema.Array(McpToolChanges)
})
export type McpServerTools = typeof McpServerTools.Type

/** Where a call reaches a server, fixed before the call starts. */
export interface McpEndpoint {
  readonly id: string
  readonly url: string
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: Redacted.Redacted<string> }>
  readonly timeoutMs: number
}
