// Who may call the agent and what they may change; and the agent's own life: duplicate, archive, delete. What is set
// here counts at once, without publishing.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent, OverrideName } from "@parley/contract/Agent"
import { useState } from "preact/hooks"
import { useDoing } from "../loaded.ts"
import { go } from "../route.ts"
import { Said } from "../Said.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agent: Agent
  readonly onChanged: () => void
}

export const Access = ({ agent, client, onChanged }: Props) => {
  const { act, problem, said } = useDoing()
  const [origins, setOrigins] = useState(agent.allowed_origins.join("\n"))
  const [sure, setSure] = useState(false)
  const patch = (change: Parameters<ParleyClient["agents"]["update"]>[1], done: string): Promise<void> =>
    act(async () => {
      await client.agents.update(agent.agent_id, change)
      onChanged()
      return done
    })
  const duplicate = async (): Promise<string> => {
    const copy = await client.agents.duplicate(agent.agent_id)
    onChanged()
    go("agents", copy.agent_id)
    return ""
  }
  const remove = async (): Promise<string> => {
    await client.agents.remove(agent.agent_id)
    onChanged()
    go("agents")
    return ""
  }
  return (
    <>
      <Said said={said} problem={problem} />
      <label class="check">
        <input
          type="checkbox"
          checked={agent.public_enabled}
          onChange={(event) =>
            void patch(
              { public_enabled: event.currentTarget.checked },
              event.currentTarget.checked ? "Pages may call it without a key." : "Only a key may call it."
            )
          }
        />
        Pages of these origins may call it without a key
      </label>
      <textarea
        aria-label="Origins"
        rows={3}
        placeholder="https://www.example.com"
        value={origins}
        onInput={(event) => setOrigins(event.currentTarget.value)}
        onBlur={() => {
          const allowed_origins = origins.split(/\s+/).filter((origin) => origin !== "")
          if (allowed_origins.join() !== agent.allowed_origins.join()) void patch({ allowed_origins }, "Origins saved.")
        }}
      />
      <h3>What a session may set anew</h3>
      <ul class="picks">
        {overrides.map(([name, words]) => (
          <li key={name}>
            <label class="check">
              <input
                type="checkbox"
                checked={agent.overrides_allowed.includes(name)}
                onChange={(event) =>
                  void patch(
                    {
                      overrides_allowed: event.currentTarget.checked
                        ? [...agent.overrides_allowed, name]
                        : agent.overrides_allowed.filter((other) => other !== name)
                    },
                    "Saved."
                  )
                }
              />
              {words}
            </label>
          </li>
        ))}
      </ul>
      <h3>The agent itself</h3>
      <p class="hint">Its id is {agent.agent_id}.</p>
      <div class="controls">
        <button type="button" onClick={() => act(duplicate)}>
          Duplicate
        </button>
        {agent.status === "active" ? (
          <button type="button" onClick={() => patch({ status: "archived" }, "Archived.")}>
            Archive
          </button>
        ) : (
          <button type="button" onClick={() => patch({ status: "active" }, "Active again.")}>
            Bring back
          </button>
        )}
        {sure ? (
          <button type="button" class="danger" onClick={() => act(remove)}>
            Delete for good
          </button>
        ) : (
          <button type="button" onClick={() => setSure(true)}>
            Delete
          </button>
        )}
      </div>
      <p class="hint">The records of its calls stay.</p>
    </>
  )
}

const overrides: ReadonlyArray<readonly [OverrideName, string]> = [
  ["first_message", "its first words"],
  ["system_prompt", "its prompt"],
  ["voice_id", "its voice"],
  ["language", "its language"]
]
