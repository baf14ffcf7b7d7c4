// The desk: agents on the left, the chosen one in the middle, the conversation with it on the right.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import type { Health } from "@parley/contract/Health"
import { useEffect, useMemo, useState } from "preact/hooks"
import { AgentEditor } from "./AgentEditor.tsx"
import { inWords } from "./inWords.ts"
import { Talk } from "./Talk.tsx"

export const Desk = ({ client, onSignOut }: { readonly client: ParleyClient; readonly onSignOut: () => void }) => {
  const stable = useMemo(() => client, [])
  const [agents, setAgents] = useState<ReadonlyArray<Agent> | null>(null)
  const [chosen, setChosen] = useState<string | null>(null)
  const [health, setHealth] = useState<Health | null>(null)
  const [problem, setProblem] = useState("")

  const refresh = async (choose?: string): Promise<void> => {
    try {
      const { agents: found } = await stable.agents.list({ page_size: 100 })
      setAgents(found)
      setChosen((now) => choose ?? now ?? found[0]?.agent_id ?? null)
      setProblem("")
    } catch (error) {
      setProblem(inWords(error))
    }
  }
  useEffect(() => {
    void refresh()
    const look = (): unknown => stable.health().then(setHealth, () => undefined)
    look()
    const timer = setInterval(look, lookEveryMs)
    return () => clearInterval(timer)
  }, [])

  const create = async (): Promise<void> => {
    try {
      const agent = await stable.agents.create({
        name: `Agent ${(agents?.length ?? 0) + 1}`,
        config: { prompt: starter }
      })
      await refresh(agent.agent_id)
    } catch (error) {
      setProblem(inWords(error))
    }
  }
  const agent = agents?.find((one) => one.agent_id === chosen)
  return (
    <div class="desk">
      <nav aria-label="Agents">
        <h1>Parley</h1>
        <button class="primary" type="button" onClick={create}>
          New agent
        </button>
        <ul>
          {(agents ?? []).map((one) => (
            <li key={one.agent_id}>
              <button
                type="button"
                class={one.agent_id === chosen ? "chosen" : ""}
                aria-current={one.agent_id === chosen}
                onClick={() => setChosen(one.agent_id)}
              >
                <span>{one.name}</span>
                <span class={`badge ${one.publication_state}`}>{one.publication_state}</span>
              </button>
            </li>
          ))}
        </ul>
        <footer>
          <Serving health={health} />
          <a href="/docs" target="_blank" rel="noreferrer">
            API docs
          </a>
          <button type="button" class="quiet" onClick={onSignOut}>
            Sign out
          </button>
        </footer>
      </nav>
      {problem !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {agents === null ? null : agent === undefined ? (
        <section class="empty">
          <h2>Nobody to talk to yet</h2>
          <p>
            Make an agent, tell it in a few sentences who it is, publish it, and call it from here: your microphone, its
            voice, captions of both, and where each millisecond went.
          </p>
          <button class="primary" type="button" onClick={create}>
            Make the first agent
          </button>
        </section>
      ) : (
        <>
          <AgentEditor
            key={agent.agent_id}
            client={stable}
            agent={agent}
            voices={voicesOf(health)}
            onChanged={() => refresh()}
          />
          <Talk key={`talk ${agent.agent_id}`} client={stable} agent={agent} health={health} />
        </>
      )}
    </div>
  )
}

/** Which engine serves each part; one that is good for a demonstration only says so. */
const Serving = ({ health }: { readonly health: Health | null }) => (
  <dl class="serving">
    {Object.entries(health?.serves ?? {}).map(([part, providers]) => {
      const up = providers.find((provider) => provider.state === "up")
      return (
        <>
          <dt>{part}</dt>
          <dd class={up === undefined ? "down" : ""} title={(up ?? providers[0])?.note ?? ""}>
            {up?.name ?? "none"}
          </dd>
        </>
      )
    })}
  </dl>
)

/** Engines come and go while a person looks. */
const lookEveryMs = 4_000

const voicesOf = (health: Health | null): ReadonlyArray<string> => [
  ...new Set((health?.serves["tts"] ?? []).flatMap((provider) => provider.voices ?? []))
]

const starter = {
  system_prompt:
    "You are the friendly receptionist of a small practice. Answer in one or two short sentences. Help the caller to book an appointment: ask for the day, the time and the name."
}
