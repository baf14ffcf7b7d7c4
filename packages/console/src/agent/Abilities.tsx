// What the agent can do and know: tools, MCP servers, documents, hanging up.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { useLoaded } from "../loaded.ts"
import { bytesInWords, plain } from "../inWords.ts"
import { href } from "../route.ts"
import { Said } from "../Said.tsx"
import type { DraftProps } from "./draft.ts"

export const Abilities = ({ change, client, draft }: DraftProps & { readonly client: ParleyClient }) => {
  const { knowledge_base: known, tools } = draft
  const allTools = useLoaded(() => client.office.tools.list({ page_size: 100 }), [])
  const servers = useLoaded(() => client.office.mcpServers.list({ page_size: 100 }), [])
  const sources = useLoaded(() => client.office.knowledge.list({ page_size: 100 }), [])
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={tools.enabled}
          onChange={(event) => change({ tools: { ...tools, enabled: event.currentTarget.checked } })}
        />
        The agent may use tools
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
        The agent may hang up
      </label>
      <h3>Tools</h3>
      <Said problem={allTools.problem} />
      <ul class="picks">
        {(allTools.value?.tools ?? []).map((tool) => (
          <li key={tool.tool_id}>
            <label class="check">
              <input
                type="checkbox"
                checked={tools.tool_ids.includes(tool.tool_id)}
                onChange={(event) =>
                  change({
                    tools: { ...tools, tool_ids: toggled(tools.tool_ids, tool.tool_id, event.currentTarget.checked) }
                  })
                }
              />
              <span>
                {tool.name} <em>{plain(tool.tool_type === "client" ? "in the browser" : tool.execution_mode)}</em>
                <small>{tool.description}</small>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {allTools.value?.tools.length === 0 && (
        <p class="hint">
          There is no tool yet. <a href={href("tools")}>Make one</a>.
        </p>
      )}
      {(servers.problem !== "" || (servers.value?.mcp_servers.length ?? 0) > 0) && <h3>MCP servers</h3>}
      <Said problem={servers.problem} />
      <ul class="picks">
        {(servers.value?.mcp_servers ?? []).map((server) => (
          <li key={server.mcp_server_id}>
            <label class="check">
              <input
                type="checkbox"
                checked={tools.mcp_server_ids?.includes(server.mcp_server_id) ?? false}
                onChange={(event) => {
                  const { mcp_server_ids = [], ...others } = tools
                  const ids = toggled(mcp_server_ids, server.mcp_server_id, event.currentTarget.checked)
                  change({ tools: ids.length === 0 ? others : { ...others, mcp_server_ids: ids } })
                }}
              />
              <span>
                {server.name}
                <small>{server.url}</small>
              </span>
            </label>
          </li>
        ))}
      </ul>
      <h3>Knowledge</h3>
      <Said problem={sources.problem} />
      <ul class="picks">
        {(sources.value?.knowledge_sources ?? []).map((source) => (
          <li key={source.knowledge_source_id}>
            <label class="check">
              <input
                type="checkbox"
                checked={known.knowledge_source_ids.includes(source.knowledge_source_id)}
                onChange={(event) => {
                  const ids = toggled(
                    known.knowledge_source_ids,
                    source.knowledge_source_id,
                    event.currentTarget.checked
                  )
                  change({ knowledge_base: { enabled: ids.length > 0, knowledge_source_ids: ids } })
                }}
              />
              <span>
                {source.name} <em>{bytesInWords(source.size_bytes)}</em>
                <small>{source.description}</small>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {sources.value?.knowledge_sources.length === 0 && (
        <p class="hint">
          There is no document yet. <a href={href("knowledge")}>Add one</a>.
        </p>
      )}
      <p class="hint">Up to 8 KB together are part of the prompt; more is searched at every turn.</p>
    </>
  )
}

const toggled = (ids: ReadonlyArray<string>, id: string, on: boolean): ReadonlyArray<string> =>
  on ? [...ids, id] : ids.filter((other) => other !== id)
