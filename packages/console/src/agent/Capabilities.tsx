// The tab of tools and knowledge: which tools, MCP servers and documents the agent has, and whether it can hang up.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { ComponentChildren } from "preact"
import { formatBytes, formatName } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"
import { href } from "../route.ts"
import type { DraftProps } from "./draft.ts"

interface Props extends DraftProps {
  readonly client: ParleyClient
}

/** Selects what the draft can use; the lists come from the workspace. */
export const Capabilities = ({ change, client, draft }: Props) => {
  const { tools } = draft
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={tools.enabled}
          onChange={(event) => change({ tools: { ...tools, enabled: event.currentTarget.checked } })}
        />
        Tools enabled
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={tools.system_tools.hang_up_call}
          onChange={(event) =>
            change({
              tools: { ...tools, system_tools: { ...tools.system_tools, hang_up_call: event.currentTarget.checked } }
            })
          }
        />
        The agent can hang up
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={tools.system_tools.send_digits === true}
          onChange={(event) =>
            change({
              tools: { ...tools, system_tools: { ...tools.system_tools, send_digits: event.currentTarget.checked } }
            })
          }
        />
        On the telephone the agent can press keys
      </label>
      <Tools client={client} draft={draft} change={change} />
      <McpServers client={client} draft={draft} change={change} />
      <Knowledge client={client} draft={draft} change={change} />
    </>
  )
}

const Tools = ({ change, client, draft: { tools } }: Props) => {
  const { problem, value } = useLoaded(() => client.management.tools.list({ page_size: 100 }), [])
  return (
    <>
      <h3>Tools</h3>
      <Notice problem={problem} />
      <ul class="picks">
        {(value?.tools ?? []).map((tool) => (
          <Pick
            key={tool.tool_id}
            note={tool.description}
            chosen={tools.tool_ids.includes(tool.tool_id)}
            onChange={(on) => change({ tools: { ...tools, tool_ids: toggled(tools.tool_ids, tool.tool_id, on) } })}
          >
            {tool.name} <em>{formatName(tool.tool_type === "client" ? "in the browser" : tool.execution_mode)}</em>
          </Pick>
        ))}
      </ul>
      {value?.tools.length === 0 && (
        <p class="hint">
          No tools yet. <a href={href("tools")}>Create one</a>.
        </p>
      )}
    </>
  )
}

const McpServers = ({ change, client, draft: { tools } }: Props) => {
  const { problem, value } = useLoaded(() => client.management.mcpServers.list({ page_size: 100 }), [])
  const servers = value?.mcp_servers ?? []
  return (
    <>
      {(problem !== "" || servers.length > 0) && <h3>MCP servers</h3>}
      <Notice problem={problem} />
      <ul class="picks">
        {servers.map((server) => (
          <Pick
            key={server.mcp_server_id}
            note={server.url}
            chosen={tools.mcp_server_ids?.includes(server.mcp_server_id) ?? false}
            onChange={(on) => {
              const { mcp_server_ids = [], ...others } = tools
              const ids = toggled(mcp_server_ids, server.mcp_server_id, on)
              change({ tools: ids.length === 0 ? others : { ...others, mcp_server_ids: ids } })
            }}
          >
            {server.name}
          </Pick>
        ))}
      </ul>
    </>
  )
}

const Knowledge = ({ change, client, draft: { knowledge_base: known } }: Props) => {
  const { problem, value } = useLoaded(() => client.management.knowledge.list({ page_size: 100 }), [])
  return (
    <>
      <h3>Knowledge</h3>
      <Notice problem={problem} />
      <ul class="picks">
        {(value?.knowledge_sources ?? []).map((source) => (
          <Pick
            key={source.knowledge_source_id}
            note={source.description}
            chosen={known.knowledge_source_ids.includes(source.knowledge_source_id)}
            onChange={(on) => {
              const ids = toggled(known.knowledge_source_ids, source.knowledge_source_id, on)
              change({ knowledge_base: { enabled: ids.length > 0, knowledge_source_ids: ids } })
            }}
          >
            {source.name} <em>{formatBytes(source.size_bytes)}</em>
          </Pick>
        ))}
      </ul>
      {value?.knowledge_sources.length === 0 && (
        <p class="hint">
          No documents yet. <a href={href("knowledge")}>Add one</a>.
        </p>
      )}
      <p class="hint">
        Documents of up to 8 KB in total are part of the prompt; larger sets are searched at every turn.
      </p>
    </>
  )
}

interface PickProps {
  readonly children: ComponentChildren
  /** A second, smaller line. */
  readonly note: string
  readonly chosen: boolean
  readonly onChange: (on: boolean) => void
}

const Pick = ({ children, chosen, note, onChange }: PickProps) => (
  <li>
    <label class="check">
      <input type="checkbox" checked={chosen} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>
        {children}
        <small>{note}</small>
      </span>
    </label>
  </li>
)

const toggled = (ids: ReadonlyArray<string>, id: string, on: boolean): ReadonlyArray<string> =>
  on ? [...ids, id] : ids.filter((other) => other !== id)
