// One MCP server: its address, the headers it gets, and the tools it has at this moment.
import { type ParleyClient, ParleyError } from "@parley/client/ParleyClient"
import type { McpServer, McpServerCreate } from "@parley/contract/McpServer"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { useLoaded } from "../loaded.ts"
import { go } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { ToolHeaders } from "./ToolHeaders.tsx"

interface Props {
  readonly client: ParleyClient
  /** Undefined for a new one. */
  readonly server: McpServer | undefined
  readonly onChanged: () => Promise<void>
}

type Edited = typeof McpServerCreate.Encoded

/** Creates an MCP server, or edits one. */
export const McpServerEditor = ({ client, onChanged, server }: Props) => {
  const [edited, setEdited] = useState<Edited>(() => (server === undefined ? fresh : editable(server)))
  const { act, message, problem } = useAction()
  const set = (part: Partial<Edited>): void => setEdited({ ...edited, ...part })
  const save = async (): Promise<string> => {
    const servers = client.management.mcpServers
    const saved =
      server === undefined ? await servers.create(edited) : await servers.update(server.mcp_server_id, edited)
    setEdited(editable(saved))
    await onChanged()
    go("tools", saved.mcp_server_id)
    return "Saved. Publish the agents that use it again to apply the change."
  }
  const remove = async (): Promise<string> => {
    if (server !== undefined) await client.management.mcpServers.remove(server.mcp_server_id).catch(explain)
    go("tools")
    await onChanged()
    return ""
  }
  return (
    <article aria-label="MCP server">
      <Notice message={message} problem={problem} />
      <div class="pair">
        <div>
          <label for="mcp-name">Name</label>
          <input
            id="mcp-name"
            maxLength={120}
            value={edited.name}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
        </div>
        <div>
          <label for="mcp-timeout">Timeout in seconds</label>
          <input
            id="mcp-timeout"
            type="number"
            min={1}
            max={120}
            value={edited.timeout_seconds ?? 30}
            onInput={(event) => set({ timeout_seconds: Number(event.currentTarget.value) })}
          />
        </div>
      </div>
      <label for="mcp-url">Address</label>
      <input
        id="mcp-url"
        type="url"
        placeholder="https://example.com/mcp"
        value={edited.url}
        onInput={(event) => set({ url: event.currentTarget.value })}
      />
      <h3>Headers</h3>
      <ToolHeaders headers={edited.headers ?? []} onChange={(headers) => set({ headers })} />
      <div class="controls">
        <button type="button" class="primary" onClick={() => act(save)}>
          {server === undefined ? "Create" : "Save"}
        </button>
        {server !== undefined && (
          <button type="button" onClick={() => act(remove)}>
            Remove the server
          </button>
        )}
      </div>
      {server !== undefined && <ServerTools client={client} server={server} />}
    </article>
  )
}

/** Read again whenever the server's record changes. */
const ServerTools = ({ client, server }: { readonly client: ParleyClient; readonly server: McpServer }) => {
  const { problem, reload, value } = useLoaded(
    () => client.management.mcpServers.tools(server.mcp_server_id),
    [server.updated_at]
  )
  return (
    <section aria-label="Available tools">
      <h3>Available tools</h3>
      {problem === "" && value === null && <p class="hint">Loading ...</p>}
      <Notice problem={problem} />
      {problem === "" && value?.tools.length === 0 && <p class="hint">The server offers no tools.</p>}
      {problem === "" && (
        <ul class="cards">
          {(value?.tools ?? []).map((tool) => (
            <li key={tool.name}>
              <code>{tool.name}</code>
              <small>{tool.description}</small>
            </li>
          ))}
        </ul>
      )}
      {(value?.changes ?? []).map(({ added, agent_id, agent_name, changed, removed }) => (
        <p key={agent_id} role="status">
          {agent_name} was published with other tools ({changesIn({ added, changed, removed })}). Its calls use those
          until it is published again.
        </p>
      ))}
      <button type="button" onClick={reload}>
        Refresh
      </button>
    </section>
  )
}

/** Such as "added: a, b; removed: c". */
const changesIn = (changes: Readonly<Record<string, ReadonlyArray<string>>>): string =>
  Object.entries(changes)
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what}: ${names.join(", ")}`)
    .join("; ")

const explain = (error: unknown): never => {
  if (!(error instanceof ParleyError && error.status === 409)) throw error
  throw new ParleyError(409, `${error.message}. Remove it from the agent's tools first.`, error.reason)
}

const fresh: Edited = { name: "", url: "" }

/** Values of headers stay as they are stored. */
const editable = (server: McpServer): Edited => ({
  name: server.name,
  url: server.url,
  timeout_seconds: server.timeout_seconds,
  headers: server.headers.map(({ has_secret, kind, name }) => ({ name, kind, value: null, has_secret }))
})
