// The chosen agent's draft in parts. Saving changes the draft only; publishing makes it what callers hear. A section that
// was touched is sent whole, as it was read, with what was edited changed.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import { useEffect, useState } from "preact/hooks"
import { TestsTab } from "../agentTests/TestsTab.tsx"
import { formatError } from "../format.ts"
import { useAction } from "../action.ts"
import { go } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { Capabilities } from "./Capabilities.tsx"
import { Access } from "./Access.tsx"
import { AfterCall } from "./AfterCall.tsx"
import { Behaviour } from "./Behaviour.tsx"
import { type Draft, touched } from "./draft.ts"
import { Publishing } from "./Publishing.tsx"
import { Versions } from "./Versions.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agent: Agent
  /** Which tab is open; the first where it is none. */
  readonly part: string
  readonly voices: ReadonlyArray<string>
  readonly onChanged: () => void
}

const tabs = {
  behaviour: "Behaviour",
  tools: "Tools and knowledge",
  after: "After the call",
  tests: "Tests",
  access: "Access",
  versions: "Versions"
} as const

/** The editor of one agent. `onChanged` is called when the agent's own record has changed. */
export const AgentEditor = ({ agent, client, onChanged, part, voices }: Props) => {
  const [read, setRead] = useState<Draft | null>(null)
  const [draft, setDraft] = useState<Draft | null>(null)
  /** The live version a draft is compared with before it is published; 0 while nothing is compared. */
  const [comparing, setComparing] = useState(0)
  const [unread, setUnread] = useState("")
  const { act, message, problem } = useAction()
  const dirty = draft !== read
  const take = (fresh: Draft): void => {
    setRead(fresh)
    setDraft(fresh)
  }
  useEffect(() => {
    client.agents.config(agent.agent_id).then(take, (error: unknown) => setUnread(formatError(error)))
  }, [])
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    if (dirty) addEventListener("beforeunload", warn)
    return () => removeEventListener("beforeunload", warn)
  }, [dirty])
  if (draft === null || read === null) {
    return <section class="editor">{unread === "" ? <p>Loading ...</p> : <Notice problem={unread} />}</section>
  }

  const change = (changed: Partial<Draft>): void => setDraft({ ...draft, ...changed })
  const save = async (): Promise<string> => {
    take(await client.agents.configure(agent.agent_id, touched(draft, read)))
    return "Draft saved."
  }
  const publish = async (title: string): Promise<string> => {
    const { version_number } = await client.agents.publish(agent.agent_id, title === "" ? {} : { version_title: title })
    setComparing(0)
    onChanged()
    return `Version ${version_number} is live.`
  }
  const compare = async (): Promise<string> => {
    setComparing(0)
    if (dirty) await save()
    const [live] = (await client.agents.versions(agent.agent_id, { page_size: 1 })).versions
    if (live === undefined) return publish("")
    setComparing(live.version_number)
    return ""
  }
  const rename = async (name: string): Promise<string> => {
    await client.agents.update(agent.agent_id, { name })
    onChanged()
    return `Renamed to ${name}.`
  }
  const tab = Object.hasOwn(tabs, part) ? part : "behaviour"
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
        <button type="button" class="primary" onClick={() => act(compare)}>
          Publish
        </button>
      </header>
      <Notice message={message} problem={problem} />
      {comparing !== 0 && (
        <Publishing
          client={client}
          agentId={agent.agent_id}
          live={comparing}
          onPublish={(title) => void act(() => publish(title))}
          onLeave={() => setComparing(0)}
        />
      )}
      <Tabs agentId={agent.agent_id} open={tab} />
      {tab === "behaviour" && (
        <Behaviour client={client} draft={draft} change={change} voices={voices} keyed={read.llm.custom?.base_url} />
      )}
      {tab === "tools" && <Capabilities client={client} draft={draft} change={change} />}
      {tab === "after" && <AfterCall draft={draft} change={change} />}
      {tab === "tests" && <TestsTab client={client} agent={agent} unsaved={dirty} />}
      {tab === "access" && <Access client={client} agent={agent} onChanged={onChanged} />}
      {tab === "versions" && <Versions client={client} agent={agent} />}
    </section>
  )
}

const Tabs = ({ agentId, open }: { readonly agentId: string; readonly open: string }) => (
  <div class="tabs" role="tablist">
    {Object.entries(tabs).map(([name, words]) => (
      <button
        key={name}
        type="button"
        role="tab"
        aria-selected={name === open}
        onClick={() => go("agents", agentId, name)}
      >
        {words}
      </button>
    ))}
  </div>
)
