// The workspace's tools and MCP servers, and the one that is edited. An agent uses those that are selected in its draft.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { formatName } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { go, href } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { McpServerEditor } from "./McpServerEditor.tsx"
import { ToolEditor } from "./ToolEditor.tsx"

interface Props {
  readonly client: ParleyClient
  /** Of a tool or of a server; empty for none, `new` and `new-server` for one that is being made. */
  readonly chosen: string
}

/** The page of tools and MCP servers. */
export const ToolsPage = ({ chosen, client }: Props) => {
  const allTools = useLoaded(() => client.management.tools.list({ page_size: 100 }), [])
  const allServers = useLoaded(() => client.management.mcpServers.list({ page_size: 100 }), [])
  const tools = allTools.value?.tools ?? []
  const servers = allServers.value?.mcp_servers ?? []
  const tool = tools.find((one) => one.tool_id === chosen)
  const server = servers.find((one) => one.mcp_server_id === chosen)
  return (
    <section class="page" aria-label="Tools">
      <header>
        <h2>Tools</h2>
        <button type="button" onClick={() => go("tools", "new-server")}>
          New MCP server
        </button>
        <button type="button" class="primary" onClick={() => go("tools", "new")}>
          New tool
        </button>
      </header>
      <Notice problem={allTools.problem || allServers.problem} />
      <div class="halves">
        <div>
          {allTools.value !== null && tools.length === 0 && (
            <p class="hint">
              A tool is an HTTP request to your server, or a function in the caller's page. The agent fills in the
              arguments and continues with the answer.
            </p>
          )}
          <ul class="cards" aria-label="Tools">
            {tools.map((one) => (
              <li key={one.tool_id} class={one === tool ? "chosen" : ""}>
                <a href={href("tools", one.tool_id)}>{one.name}</a>
                <small>
                  {one.tool_type === "client" ? "in the browser" : `${one.method}, ${formatName(one.execution_mode)}`},{" "}
                  {usedBy(one.used_by)}
                </small>
              </li>
            ))}
          </ul>
          <h3>MCP servers</h3>
          {allServers.value !== null && servers.length === 0 && (
            <p class="hint">
              A Model Context Protocol server describes its tools itself; agents read the list from it.
            </p>
          )}
          <ul class="cards" aria-label="MCP servers">
            {servers.map((one) => (
              <li key={one.mcp_server_id} class={one === server ? "chosen" : ""}>
                <a href={href("tools", one.mcp_server_id)}>{one.name}</a>
                <small>
                  {hostOf(one.url)}, {usedBy(one.used_by)}
                </small>
              </li>
            ))}
          </ul>
        </div>
        {(tool !== undefined || chosen === "new") && (
          <ToolEditor key={chosen} client={client} tool={tool} onChanged={allTools.reload} />
        )}
        {(server !== undefined || chosen === "new-server") && (
          <McpServerEditor key={chosen} client={client} server={server} onChanged={allServers.reload} />
        )}
      </div>
    </section>
  )
}

const usedBy = (agents: number): string => `used by ${agents} ${agents === 1 ? "agent" : "agents"}`

const hostOf = (url: string): string => URL.parse(url)?.host ?? url
