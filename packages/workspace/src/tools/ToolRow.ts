// A row of `tools`: from a request's fields to what is stored, and from there to what the API shows and a call runs.
import type { StoredTool, Tool, ToolCreate, ToolPatch } from "@parley/contract/Tool"
import { StoredTool as StoredToolSchema } from "@parley/contract/Tool"
import type { WebhookTemplate } from "@parley/contract/WebhookTemplate"
import { type Redacted, Schema } from "effect"
import { configHash } from "../storage/configHash.ts"
import { rowsOf } from "../storage/rows.ts"
import { sentHeaders, showHeader } from "./SealedHeaders.ts"

/** A tool as it is stored. */
export const ToolRow = Schema.Struct({
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
export type ToolRow = typeof ToolRow.Type

/** A tool as a call runs it, with its headers sealed. */
export interface RunnableTool {
  readonly tool_id: string
  readonly definition: StoredTool
}

/** Dies on a definition that no version of the service wrote. */
export const decodeTool: (stored: unknown) => StoredTool = Schema.decodeUnknownSync(StoredToolSchema)

/** Everything a call could notice. Mock responses answer no call. */
export const contentHash = (tool: StoredTool): string => configHash({ ...tool, mock_responses: undefined })

/** A tool as the API shows it, header values left out. */
export const showTool = (row: ToolRow): Tool => {
  const { headers, ...definition } = decodeTool(row.definition)
  return {
    tool_id: row.id,
    workspace_id: row.workspace_id,
    ...definition,
    headers: headers.map(showHeader),
    used_by: row.used_by ?? 0,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString()
  }
}

type Header = StoredTool["headers"][number]

/** `headers`: undefined for those that are stored. */
export const mergeTool = (
  stored: StoredTool | undefined,
  sent: ToolCreate | ToolPatch,
  headers: ReadonlyArray<Header>
): StoredTool => ({
  tool_type: sent.tool_type ?? stored?.tool_type ?? "webhook",
  name: sent.name ?? stored?.name ?? "",
  description: sent.description ?? stored?.description ?? "",
  arguments: sent.arguments?.map(({ description = "", name }) => ({ name, description })) ?? stored?.arguments ?? [],
  method: sent.method ?? stored?.method ?? "POST",
  url: sent.url ?? stored?.url ?? "",
  content_type: sent.content_type ?? stored?.content_type ?? "application/json",
  body_template: sent.body_template ?? stored?.body_template ?? "",
  headers,
  execution_mode: sent.execution_mode ?? stored?.execution_mode ?? "blocking",
  timeout_seconds: sent.timeout_seconds ?? stored?.timeout_seconds ?? 30,
  error_handling: sent.error_handling ?? stored?.error_handling ?? "passthrough",
  mock_responses:
    sent.mock_responses?.map(({ body = "", content_type = "application/json", name, status_code = 200 }) => ({
      name,
      status_code,
      content_type,
      body
    })) ??
    stored?.mock_responses ??
    [],
  expects_response: sent.expects_response ?? stored?.expects_response ?? true
})

/** What a call fills with arguments, header values in the clear but redacted. */
export const templateOf = (
  tool: StoredTool,
  open: (sealed: string) => Redacted.Redacted<string>,
  system: WebhookTemplate["system"]
): WebhookTemplate => ({
  method: tool.method,
  url: tool.url,
  contentType: tool.content_type,
  body: tool.body_template,
  headers: sentHeaders(tool.headers).map(({ kind, name, value }) => ({
    name: kind === "custom" ? name : "Authorization",
    value: open(value)
  })),
  system
})

/** Rows of `tools`, with or without `used_by`. */
export const toolRows = rowsOf("tools", ToolRow)
