// Who can call the agent and what a session can override; and duplicating, archiving and deleting the agent. Changes
// made here take effect at once, without publishing.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent, OverrideName, PublicField } from "@parley/contract/Agent"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { go } from "../route.ts"
import { Notice } from "../Notice.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agent: Agent
  readonly onChanged: () => void
}

/** The settings of an agent that are no part of its versions. `onChanged` is called after each change. */
export const Access = ({ agent, client, onChanged }: Props) => {
  const { act, message, problem } = useAction()
  const [origins, setOrigins] = useState(agent.allowed_origins.join("\n"))
  const patch: Patch = (change, done) =>
    act(async () => {
      await client.agents.update(agent.agent_id, change)
      onChanged()
      return done
    })
  return (
    <>
      <Notice message={message} problem={problem} />
      <label class="check">
        <input
          type="checkbox"
          checked={agent.public_enabled}
          onChange={(event) =>
            void patch(
              { public_enabled: event.currentTarget.checked },
              event.currentTarget.checked
                ? "Pages of the allowed origins can call without a key."
                : "Calls now need a key."
            )
          }
        />
        Pages of these origins can call without a key
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
      <Picks
        heading="What a call without a key may set"
        names={publicFields}
        allowed={agent.public_fields_allowed}
        onAllow={(public_fields_allowed) => void patch({ public_fields_allowed }, "Saved.")}
      />
      <Picks
        heading="What a session may override"
        names={overrides}
        allowed={agent.overrides_allowed}
        onAllow={(overrides_allowed) => void patch({ overrides_allowed }, "Saved.")}
      />
      <Manage client={client} agent={agent} onChanged={onChanged} patch={patch} />
    </>
  )
}

/** Changes the agent and shows the message. */
type Patch = (change: Parameters<ParleyClient["agents"]["update"]>[1], message: string) => Promise<void>

interface PicksProps<Name extends string> {
  readonly heading: string
  readonly names: ReadonlyArray<readonly [name: Name, words: string]>
  readonly allowed: ReadonlyArray<Name>
  readonly onAllow: (allowed: ReadonlyArray<Name>) => void
}

/** What the owner allows, each by its name. */
const Picks = <Name extends string>({ allowed, heading, names, onAllow }: PicksProps<Name>) => (
  <>
    <h3>{heading}</h3>
    <ul class="picks">
      {names.map(([name, words]) => (
        <li key={name}>
          <label class="check">
            <input
              type="checkbox"
              checked={allowed.includes(name)}
              onChange={(event) =>
                onAllow(event.currentTarget.checked ? [...allowed, name] : allowed.filter((other) => other !== name))
              }
            />
            {words}
          </label>
        </li>
      ))}
    </ul>
  </>
)

const Manage = ({ agent, client, onChanged, patch }: Props & { readonly patch: Patch }) => {
  const { act, problem } = useAction()
  const [sure, setSure] = useState(false)
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
      <h3>Manage the agent</h3>
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
            Restore
          </button>
        )}
        {sure ? (
          <button type="button" class="danger" onClick={() => act(remove)}>
            Delete permanently
          </button>
        ) : (
          <button type="button" onClick={() => setSure(true)}>
            Delete
          </button>
        )}
      </div>
      <p class="hint">The records of its calls are kept.</p>
      <Notice problem={problem} />
    </>
  )
}

const publicFields: ReadonlyArray<readonly [PublicField, string]> = [
  ["dynamic_variables", "Dynamic variables"],
  ["end_user_id", "End user id"],
  ["metadata", "Metadata"],
  ["llm_extra_body", "Extra body for the language model"],
  ["tool_events", "Events of tools, with their input and output"],
  ["record_audio", "Whether it is recorded"]
]

const overrides: ReadonlyArray<readonly [OverrideName, string]> = [
  ["first_message", "the first message"],
  ["system_prompt", "the system prompt"],
  ["voice_id", "the voice"],
  ["language", "the language"]
]
