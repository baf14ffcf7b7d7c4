// A session's tools as the model and the engine see them: function names made from display names, the arguments'
// schema, and for webhooks the request that is to be made. Tools of MCP servers come last, under `server_tool`.
import { type McpEndpoint, type McpTool, mcpToolsPerSession } from "@parley/contract/McpServer"
import { reservedNames } from "@parley/contract/Tool"
import type { WebhookTemplate } from "@parley/contract/WebhookTemplate"
import type { PlannedTool } from "@parley/engine/CallPlan"
import { type RunnableTool, templateOf } from "@parley/workspace/tools/ToolRow"
import type { Redacted } from "effect"

export const plannedTools = (
  tools: ReadonlyArray<RunnableTool>,
  open: (sealed: string) => Redacted.Redacted<string>,
  system: WebhookTemplate["system"],
  servers: ReadonlyArray<ListedServer> = []
): ReadonlyArray<PlannedTool> => {
  const { names, taken } = functionNames(tools)
  const own = tools.map(({ definition: tool }, index) => ({
    spec: {
      name: names[index] ?? "",
      description: tool.description === "" ? tool.name : tool.description,
      parameters: {
        type: "object",
        properties: Object.fromEntries(
          tool.arguments.map(({ description, name }) => [
            name,
            { type: "string", ...(description === "" ? {} : { description }) }
          ])
        ),
        required: tool.arguments.map(({ name }) => name)
      }
    },
    source: tool.tool_type,
    mode: tool.tool_type === "client" && !tool.expects_response ? "fire_and_forget" : tool.execution_mode,
    timeoutMs: tool.timeout_seconds * 1000,
    errorHandling: tool.error_handling,
    webhook: tool.tool_type === "webhook" ? templateOf(tool, open, system) : undefined
  }))
  const theirs = servers.flatMap(({ endpoint, name, tools: listed }) =>
    listed.map((tool): PlannedTool => ({
      spec: {
        name: freeName(`${functionName(name).slice(0, 24)}_${tool.name.replace(/[^a-zA-Z0-9_-]+/g, "_")}`, taken),
        description: tool.description,
        parameters: tool.parameters
      },
      source: "mcp",
      mode: "blocking",
      timeoutMs: endpoint.timeoutMs,
      errorHandling: "passthrough",
      mcp: { server: endpoint, tool: tool.name }
    }))
  )
  return [...own, ...theirs.slice(0, mcpToolsPerSession)]
}

/** An MCP server that was asked for its tools. */
export interface ListedServer {
  readonly name: string
  readonly endpoint: McpEndpoint
  readonly tools: ReadonlyArray<McpTool>
}

/** A client tool's name is its function's; others give way to it and to each other. */
const functionNames = (tools: ReadonlyArray<RunnableTool>) => {
  const taken = new Set(reservedNames)
  for (const { definition } of tools) if (definition.tool_type === "client") taken.add(definition.name)
  const names = tools.map(({ definition }) =>
    definition.tool_type === "client" ? definition.name : freeName(functionName(definition.name), taken)
  )
  return { names, taken }
}

const freeName = (base: string, taken: Set<string>): string => {
  let name = base.slice(0, 64)
  for (let n = 2; taken.has(name); n++) name = `${base.slice(0, 60)}_${n}`
  taken.add(name)
  return name
}

/** `Book a table!` -> `book_a_table`; at most 64 of the characters every model takes, no leading underscore. */
export const functionName = (name: string): string =>
  name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "_")
    .replace(/^[_-]+/, "")
    .slice(0, 64)
    .replace(/[_-]+$/, "") || "tool"
