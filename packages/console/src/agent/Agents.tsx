// Agents: the list, the chosen one's draft, and the conversation with it.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Health } from "@parley/contract/Health"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { useLoaded } from "../loaded.ts"
import { go } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { AgentEditor } from "./AgentEditor.tsx"
import { Talk } from "./Talk.tsx"

interface Props {
  readonly client: ParleyClient
  /** Empty for the first. */
  readonly chosen: string
  /** Of the editor. */
  readonly part: string
  readonly health: Health | null
}

/** The page of agents; a new one begins with a prompt that can be tried at once. */
export const Agents = ({ chosen, client, health, part }: Props) => {
  const [archived, setArchived] = useState(false)
  const { problem, reload, value } = useLoaded(
    () => client.agents.list({ page_size: 100, include_archived: archived ? "true" : undefined }),
    [archived]
  )
  const { act, problem: failed } = useAction()
  const create = (): Promise<void> =>
    act(async () => {
      const agent = await client.agents.create({
        name: `Agent ${(value?.agents.length ?? 0) + 1}`,
        config: { prompt: starter }
      })
      await reload()
      go("agents", agent.agent_id)
      return ""
    })
  const agents = value?.agents ?? []
  const agent = agents.find((one) => one.agent_id === chosen) ?? agents[0]
  return (
    <>
      <nav class="list" aria-label="Agents">
        <button class="primary" type="button" onClick={create}>
          New agent
        </button>
        <ul>
          {agents.map((one) => (
            <li key={one.agent_id}>
              <button
                type="button"
                class={one === agent ? "chosen" : ""}
                aria-current={one === agent}
                onClick={() => go("agents", one.agent_id)}
              >
                <span>{one.name}</span>
                <span class={`badge ${one.publication_state}`}>
                  {one.status === "archived" ? "archived" : one.publication_state}
                </span>
              </button>
            </li>
          ))}
        </ul>
        <label class="check">
          <input type="checkbox" checked={archived} onChange={(event) => setArchived(event.currentTarget.checked)} />
          Show archived
        </label>
        <Notice problem={problem || failed} />
      </nav>
      {value === null ? null : agent === undefined ? (
        <section class="empty">
          <h2>No agents yet</h2>
          <p>
            Create an agent, describe in a few sentences who it is, publish it, and call it from here: with your
            microphone, its voice, captions of both sides, and the latency of each turn.
          </p>
          <button class="primary" type="button" onClick={create}>
            Create the first agent
          </button>
        </section>
      ) : (
        <>
          <AgentEditor
            key={agent.agent_id}
            client={client}
            agent={agent}
            part={part}
            voices={voicesOf(health)}
            onChanged={() => void reload()}
          />
          <Talk key={`talk ${agent.agent_id}`} client={client} agent={agent} health={health} />
        </>
      )}
    </>
  )
}

const voicesOf = (health: Health | null): ReadonlyArray<string> => [
  ...new Set((health?.serves["tts"] ?? []).flatMap((provider) => provider.voices ?? []))
]

const starter = {
  system_prompt:
    "You are the friendly receptionist of a small practice. Answer in one or two short sentences. Help the caller to book an appointment: ask for the day, the time and the name."
}
