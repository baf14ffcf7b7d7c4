// The calls of the workspace, newest first.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { SessionListItem } from "@parley/contract/Session"
import { useEffect, useState } from "preact/hooks"
import { formatDuration, formatError, formatName, formatTime } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { go, href } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { callDirection } from "./callDirection.ts"

/** The calls of the workspace, 50 at a time, by agent and status. */
export const CallsPage = ({ client }: { readonly client: ParleyClient }) => {
  const [agent, setAgent] = useState("")
  const [status, setStatus] = useState("")
  const [calls, setCalls] = useState<ReadonlyArray<SessionListItem> | null>(null)
  const [next, setNext] = useState<string | null>(null)
  const [problem, setProblem] = useState("")
  const agents = useLoaded(() => client.agents.list({ page_size: 100, include_archived: "true" }), [])

  const read = async (before: ReadonlyArray<SessionListItem>, cursor: string | undefined): Promise<void> => {
    try {
      const page = await client.sessions.list({
        page_size: 50,
        cursor,
        agent_id: agent === "" ? undefined : agent,
        status: status === "" ? undefined : status
      })
      setCalls([...before, ...page.sessions])
      setNext(page.next_cursor)
      setProblem("")
    } catch (error) {
      setProblem(formatError(error))
    }
  }
  useEffect(() => void read([], undefined), [agent, status])

  return (
    <section class="page" aria-label="Calls">
      <header>
        <h2>Calls</h2>
        <select aria-label="Agent" value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
          <option value="">All agents</option>
          {(agents.value?.agents ?? []).map((one) => (
            <option key={one.agent_id} value={one.agent_id}>
              {one.name}
            </option>
          ))}
        </select>
        <select aria-label="Status" value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
          <option value="">All statuses</option>
          {["pending", "active", "completed", "failed"].map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <button type="button" onClick={() => read([], undefined)}>
          Refresh
        </button>
      </header>
      <Notice problem={problem} />
      {calls?.length === 0 && <p class="hint">No matching calls.</p>}
      {calls !== null && calls.length > 0 && (
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Agent</th>
              <th scope="col">Status</th>
              <th scope="col">End reason</th>
              <th scope="col">Source</th>
              <th scope="col" class="number">
                Duration
              </th>
            </tr>
          </thead>
          <tbody>
            {calls.map((call) => (
              <tr key={call.session_id} onClick={() => go("calls", call.session_id)}>
                <td>
                  <a href={href("calls", call.session_id)}>{formatTime(call.created_at)}</a>
                </td>
                <td>{call.agent_name}</td>
                <td>
                  <span class={`badge ${call.status}`}>{call.status}</span>
                </td>
                <td>{formatName(call.end_reason ?? "")}</td>
                <td>{call.source === "phone" ? callDirection(call) : formatName(call.source)}</td>
                <td class="number">{formatDuration(call.duration_seconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {next !== null && (
        <button type="button" onClick={() => read(calls ?? [], next)}>
          Load more
        </button>
      )}
    </section>
  )
}
