// The workspace's tools: the list, and the one that is edited. Agents use them when they are chosen there.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { plain } from "../inWords.ts"
import { useLoaded } from "../loaded.ts"
import { go, href } from "../route.ts"
import { Said } from "../Said.tsx"
import { ToolEditor } from "./ToolEditor.tsx"

interface Props {
  readonly client: ParleyClient
  /** Empty for none, `new` for one that is being made. */
  readonly chosen: string
}

export const ToolsPage = ({ chosen, client }: Props) => {
  const { problem, reload, value } = useLoaded(() => client.office.tools.list({ page_size: 100 }), [])
  const tools = value?.tools ?? []
  const tool = tools.find((one) => one.tool_id === chosen)
  return (
    <section class="page" aria-label="Tools">
      <header>
        <h2>Tools</h2>
        <button type="button" class="primary" onClick={() => go("tools", "new")}>
          New tool
        </button>
      </header>
      <Said problem={problem} />
      {value !== null && tools.length === 0 && chosen === "" && (
        <p class="hint">
          A tool is a request to an address of yours, or a function in the page that calls; the agent fills in the
          arguments and goes on with the answer.
        </p>
      )}
      <div class="halves">
        <ul class="cards">
          {tools.map((one) => (
            <li key={one.tool_id} class={one.tool_id === chosen ? "chosen" : ""}>
              <a href={href("tools", one.tool_id)}>{one.name}</a>
              <small>
                {one.tool_type === "client" ? "in the browser" : `${one.method}, ${plain(one.execution_mode)}`}, used by{" "}
                {one.used_by} {one.used_by === 1 ? "agent" : "agents"}
              </small>
            </li>
          ))}
        </ul>
        {(tool !== undefined || chosen === "new") && (
          <ToolEditor key={chosen} client={client} tool={tool} onChanged={reload} />
        )}
      </div>
    </section>
  )
}
