// A session's tools as the model and the engine see them: function names made from display names, the arguments'
// schema, and for webhooks the request that is to be made. Tools of MCP servers come last, under `server_tool`.
import { mcpDescriptionChars, mcpToolsPerSession } from "@parley/contract/McpServer"
import type { WebhookTemplate } from "@parley/contract/WebhookTemplate"
import type { PlannedTool } from "@parley/engine/CallPlan"
import { type RunnableTool, templateOf } from "@parley/workspace/tools/ToolRow"
import type { OpenSecrets } from "@parley/workspace/storage/SecretBox"
import { secretOwner } from "@parley/workspace/storage/SecretOwner"
import type { ListedServer } from "../tools/McpTools.ts"
import { freeName, functionName, functionNames } from "./functionName.ts"

/**
 * In the order of `tools`, then at most `mcpToolsPerSession` of those of MCP servers. `open`: opens sealed headers.
 */
export const plannedTools = (
  tools: ReadonlyArray<RunnableTool>,
  secretsOf: OpenSecrets,
  system: WebhookTemplate["system"],
  servers: ReadonlyArray<ListedServer> = []
): ReadonlyArray<PlannedTool> => {
  const { names, taken } = functionNames(tools)
  const own = tools.map(({ definition: tool, tool_id }, index) => ({
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
    webhook:
      tool.tool_type === "webhook" ? templateOf(tool, secretsOf(secretOwner.tool(tool_id)).open, system) : undefined
  }))
  const theirs = servers.flatMap(({ endpoint, name, tools: listed }) =>
    listed.map((tool): PlannedTool => ({
      spec: {
        name: freeName(`${functionName(name).slice(0, 24)}_${tool.name.replace(/[^a-zA-Z0-9_-]+/g, "_")}`, taken),
        description: described(tool.description),
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

/** Words of a server that is not ours: plain text of a bounded length. */
const described = (text: string): string =>
  text
    .replace(/[^\P{Cc}\n\t]/gu, "")
    .slice(0, mcpDescriptionChars)
    .toWellFormed()
