// The chosen agent's draft in parts. Saving changes the draft only; publishing makes it what callers hear. Each section
// is sent whole, as it was read, with what was edited changed.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import { useEffect, useState } from "preact/hooks"
import { inWords } from "../inWords.ts"
import { useDoing } from "../loaded.ts"
import { Said } from "../Said.tsx"
import { Abilities } from "./Abilities.tsx"
import { Access } from "./Access.tsx"
import { AfterCall } from "./AfterCall.tsx"
import { Behaviour } from "./Behaviour.tsx"
import { type Draft, draftOf } from "./draft.ts"
import { Versions } from "./Versions.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agent: Agent
  readonly voices: ReadonlyArray<string>
  readonly onChanged: () => void
}

const tabs = ["Behaviour", "Abilities", "After the call", "Access", "Versions"] as const

export const AgentEditor = ({ agent, client, onChanged, voices }: Props) => {
  const [draft, setDraft] = useState<Draft | null>(null)
  const [tab, setTab] = useState<(typeof tabs)[number]>("Behaviour")
  const [dirty, setDirty] = useState(false)
  const [unread, setUnread] = useState("")
  const { act, problem, said } = useDoing()
  useEffect(() => {
    client.agents.config(agent.agent_id).then(
      (config) => setDraft(draftOf(config)),
      (error: unknown) => setUnread(inWords(error))
    )
  }, [])
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    if (dirty) addEventListener("beforeunload", warn)
    return () => removeEventListener("beforeunload", warn)
  }, [dirty])
  if (draft === null) {
    return <section class="editor">{unread === "" ? <p>Loading ...</p> : <Said problem={unread} />}</section>
  }

  const change = (part: Partial<Draft>): void => {
    setDraft({ ...draft, ...part })
    setDirty(true)
  }
  const save = async (): Promise<string> => {
    setDraft(draftOf(await client.agents.configure(agent.agent_id, draft)))
    setDirty(false)
    return "Draft saved."
  }
  const publish = async (): Promise<string> => {
    if (dirty) await save()
    const { version_number } = await client.agents.publish(agent.agent_id)
    onChanged()
    return `Version ${version_number} is live.`
  }
  const rename = async (name: string): Promise<string> => {
    await client.agents.update(agent.agent_id, { name })
    onChanged()
    return `The name is ${name} now.`
  }
  return (
    <section class="editor" aria-label="Agent">
      <header>
        <h2>
          <input
            class="name"
            aria-label="Name"
            maxLength={120}
            value={agent.name}
            onChange={(event) => void act(() => rename(event.currentTarget.value.trim()))}
          />
        </h2>
        {dirty && <span class="hint">Unsaved changes</span>}
        <button type="button" disabled={!dirty} onClick={() => act(save)}>
          Save draft
        </button>
        <button type="button" class="primary" onClick={() => act(publish)}>
          Publish
        </button>
      </header>
      <Said said={said} problem={problem} />
      <div class="tabs" role="tablist">
        {tabs.map((name) => (
          <button key={name} type="button" role="tab" aria-selected={name === tab} onClick={() => setTab(name)}>
            {name}
          </button>
        ))}
      </div>
      {tab === "Behaviour" && <Behaviour client={client} draft={draft} change={change} voices={voices} />}
      {tab === "Abilities" && <Abilities client={client} draft={draft} change={change} />}
      {tab === "After the call" && <AfterCall draft={draft} change={change} />}
      {tab === "Access" && <Access client={client} agent={agent} onChanged={onChanged} />}
      {tab === "Versions" && <Versions client={client} agent={agent} />}
    </section>
  )
}
