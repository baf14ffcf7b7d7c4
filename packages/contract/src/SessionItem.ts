// What a session's history is made of: messages, tool calls and their results.
import { Schema } from "effect"

/** Where a tool ran. */
export const ToolSource = Schema.Literals(["client", "webhook", "builtin", "mcp", "background", "unknown"])
export type ToolSource = typeof ToolSource.Type

/** What one side said. */
const MessageItem = Schema.Struct({
  type: Schema.Literal("message"),
  id: Schema.String,
  role: Schema.Literals(["user", "assistant"]),
  /** For the assistant: only what was heard. */
  content: Schema.String,
  turn_id: Schema.String,
  /** ISO 8601. */
  created_at: Schema.String
})

/** A tool that was called. */
const ToolCallItem = Schema.Struct({
  type: Schema.Literal("tool_call"),
  call_id: Schema.String,
  tool_name: Schema.String,
  tool_source: ToolSource,
  /** The arguments as the model wrote them, a JSON string, never cut. */
  input: Schema.String,
  turn_id: Schema.String,
  created_at: Schema.String
})

/** What the call came to; latency in milliseconds. */
const ToolResultItem = Schema.Struct({
  type: Schema.Literal("tool_result"),
  call_id: Schema.String,
  tool_name: Schema.String,
  tool_source: ToolSource,
  status: Schema.Literals(["completed", "failed"]),
  output: Schema.NullOr(Schema.String),
  output_truncated: Schema.Boolean,
  error: Schema.NullOr(Schema.String),
  latency_ms: Schema.Number,
  turn_id: Schema.String,
  created_at: Schema.String
})

/** One entry of a session's history. */
export const SessionItem = Schema.Union([MessageItem, ToolCallItem, ToolResultItem])
export type SessionItem = typeof SessionItem.Type
