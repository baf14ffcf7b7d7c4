// Tools of a workspace: webhooks the service calls, and functions that run in the customer's app. What a schema alone
// cannot say is in `toolFaults`, which looks at whole tools: a created one, and a patched one after patching.
import { Schema } from "effect"
import { fault, type Fault } from "./Fault.ts"
import { listOf, text, textBetween, textMatching, wholeBetween } from "./Field.ts"
import { pageFields, PageQuery } from "./Page.ts"
import { unknownSystemNames } from "./SystemVariables.ts"

/** `client` tools run in the customer's app. */
const ToolType = Schema.Literals(["webhook", "client"])
/** `custom` has a name of its own; the others are `Authorization`. */
export const HeaderKind = Schema.Literals(["custom", "authorization_bearer", "authorization_basic"])
export type HeaderKind = typeof HeaderKind.Type
const Method = Schema.Literals(["GET", "POST", "PUT", "PATCH", "DELETE"])
const ExecutionMode = Schema.Literals(["blocking", "fire_and_forget", "background"])
const ErrorHandling = Schema.Literals(["passthrough", "hide"])

const headerName = textMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 128, "must be a header name")
const printable = textMatching(/^[\t\x20-\x7e\x80-\u{10ffff}]*$/u, 4000, "must not contain control characters")

/** What the model fills in. */
const ToolArgument = Schema.Struct({
  name: textBetween(1, 64),
  description: Schema.optionalKey(text(500))
})

/**
 * A value of null keeps the stored one of the same name and kind, unless the address moves to another origin: then it is
 * dropped, `has_secret` is false, and the header is not sent.
 */
export const ToolHeaderInput = Schema.Struct({
  name: Schema.optionalKey(headerName),
  kind: Schema.optionalKey(HeaderKind),
  value: Schema.optionalKey(Schema.NullOr(printable)),
  /** Only what is returned has it; taken and ignored. */
  has_secret: Schema.optionalKey(Schema.Boolean)
})

/** An answer for tests of agents. */
const MockResponseInput = Schema.Struct({
  name: text(120),
  status_code: Schema.optionalKey(wholeBetween(100, 599)),
  content_type: Schema.optionalKey(text(128)),
  body: Schema.optionalKey(text(100_000))
})

const fields = {
  description: Schema.optionalKey(text(2000)),
  arguments: Schema.optionalKey(listOf(ToolArgument, 50)),
  method: Schema.optionalKey(Method),
  url: Schema.optionalKey(text(4000)),
  content_type: Schema.optionalKey(textMatching(/^[\x20-\x7e]+$/, 128, "must be a media type of printable characters")),
  body_template: Schema.optionalKey(text(100_000)),
  headers: Schema.optionalKey(listOf(ToolHeaderInput, 50)),
  execution_mode: Schema.optionalKey(ExecutionMode),
  timeout_seconds: Schema.optionalKey(wholeBetween(1, 300)),
  error_handling: Schema.optionalKey(ErrorHandling),
  mock_responses: Schema.optionalKey(listOf(MockResponseInput, 50)),
  expects_response: Schema.optionalKey(Schema.Boolean),
  tool_type: Schema.optionalKey(ToolType)
}

/** A tool as it is sent. */
export const ToolCreate = Schema.Struct({ name: textBetween(1, 120), ...fields })
export type ToolCreate = typeof ToolCreate.Type

/** What is omitted stays; null is refused; headers and the other lists are replaced whole. */
export const ToolPatch = Schema.Struct({ name: Schema.optionalKey(textBetween(1, 120)), ...fields })
export type ToolPatch = typeof ToolPatch.Type

const MockResponse = Schema.Struct({
  name: Schema.String,
  status_code: Schema.Int,
  content_type: Schema.String,
  body: Schema.String
})

const definition = {
  tool_type: ToolType,
  name: Schema.String,
  description: Schema.String,
  arguments: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String })),
  method: Method,
  /** Empty for a client tool. */
  url: Schema.String,
  content_type: Schema.String,
  body_template: Schema.String,
  execution_mode: ExecutionMode,
  timeout_seconds: Schema.Int,
  error_handling: ErrorHandling,
  mock_responses: Schema.Array(MockResponse),
  expects_response: Schema.Boolean
}

/** As it is kept: header values sealed. */
export const StoredTool = Schema.Struct({
  ...definition,
  headers: Schema.Array(Schema.Struct({ name: Schema.String, kind: HeaderKind, value: Schema.String }))
})
export type StoredTool = typeof StoredTool.Type

/** A tool as it is returned, header values left out. */
export const Tool = Schema.Struct({
  tool_id: Schema.String,
  workspace_id: Schema.String,
  ...definition,
  headers: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      kind: HeaderKind,
      /** Write-only. */
      value: Schema.Null,
      has_secret: Schema.Boolean
    })
  ),
  /** Agents whose draft has it. */
  used_by: Schema.Int,
  created_at: Schema.String,
  updated_at: Schema.String
})
export type Tool = typeof Tool.Type

/** One page, newest first. */
export const ToolPage = Schema.Struct({ tools: Schema.Array(Tool), ...pageFields })

/** `search`: part of the name; `agent_id`: in its draft. */
export const ToolQuery = {
  search: Schema.optionalKey(text(256)),
  agent_id: Schema.optionalKey(text(128)),
  ...PageQuery
}

/** Agents whose draft names the tool. */
export const ToolAgents = Schema.Struct({
  agents: Schema.Array(Schema.Struct({ agent_id: Schema.String, name: Schema.String })),
  total: Schema.Int
})
export type ToolAgents = typeof ToolAgents.Type

/** `system` inside the arguments fills `{{system.*}}`, which is empty otherwise. */
export const ToolTest = Schema.Struct({ arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)) })
export type ToolTest = typeof ToolTest.Type

/** What the test request came to; latency in milliseconds. */
export const ToolTestResult = Schema.Struct({
  /** Null when no answer came. */
  status_code: Schema.NullOr(Schema.Int),
  latency_ms: Schema.Int,
  headers: Schema.Record(Schema.String, Schema.String),
  /** At most 64 KB. */
  body: Schema.String,
  response_truncated: Schema.Boolean,
  error: Schema.NullOr(Schema.String)
})
export type ToolTestResult = typeof ToolTestResult.Type

/** What is wrong with a whole tool beyond its fields' own bounds. `values`: the headers' values in the clear. */
export const toolFaults = (
  tool: Omit<StoredTool, "headers" | "mock_responses">,
  headers: ReadonlyArray<{ readonly name: string; readonly kind: HeaderKind; readonly value: string }>
): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  const blame = (path: ReadonlyArray<string | number>, msg: string) => faults.push(fault(["body", ...path], msg))
  const isClient = tool.tool_type === "client"

  if (isClient && !/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/.test(tool.name)) {
    blame(["name"], "of a client tool must be a function name: a letter, then at most 63 letters, digits, _ or -")
  }
  if (isClient && reservedNames.has(tool.name)) blame(["name"], "is reserved")
  if (isClient && tool.url !== "") blame(["url"], "is not for client tools")
  if (isClient && headers.length > 0) blame(["headers"], "is not for client tools")
  if (!isClient && tool.url === "") blame(["url"], "field required")
  if (tool.timeout_seconds > 120 && (isClient || tool.execution_mode !== "background")) {
    blame(["timeout_seconds"], "must be between 1 and 120; webhooks in the background take up to 300")
  }
  tool.arguments.forEach(({ name }, index) => {
    if (/^system\b|[{}]/.test(name)) blame(["arguments", index, "name"], "must not begin with system or contain braces")
    if (tool.arguments.findIndex((other) => other.name === name) < index) {
      blame(["arguments", index, "name"], "must be unique")
    }
  })
  faults.push(...headerFaults(headers))
  const templates: ReadonlyArray<readonly [ReadonlyArray<string | number>, string]> = [
    [["url"], tool.url],
    [["body_template"], tool.body_template],
    ...headers.map(({ value }, index) => [["headers", index, "value"], value] as const)
  ]
  for (const [path, template] of templates) {
    if (unknownSystemNames(template).length > 0) blame(path, "names an unknown system variable")
  }
  return faults
}

/** What is wrong with headers taken together. */
export const headerFaults = (headers: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<Fault> =>
  headers.flatMap(({ name }, index) => [
    ...(framingNames.test(name) ? [fault(["body", "headers", index, "name"], "is set by the service")] : []),
    ...(headers.findIndex((other) => other.name.toLowerCase() === name.toLowerCase()) < index
      ? [fault(["body", "headers", index, "name"], "must be unique")]
      : [])
  ])

/** Functions of the service's own. */
export const reservedNames: ReadonlySet<string> = new Set(["hang_up_call", "transfer_call", "send_digits"])

/** Headers that frame or route a message: never the customer's. */
export const framingNames =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|accept-encoding)$/i
