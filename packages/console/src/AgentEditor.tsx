// The chosen agent's draft: prompt, opening, voice. Saving changes the draft only; publishing makes it what
// callers hear. Each section is sent whole, as it was read, with the fields shown here changed.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import type { ReturnedConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { useEffect, useState } from "preact/hooks"
import { inWords } from "./inWords.ts"

interface Props {
  readonly client: ParleyClient
  readonly agent: Agent
  readonly voices: ReadonlyArray<string>
  readonly onChanged: () => void
}

export const AgentEditor = ({ agent, client, onChanged, voices }: Props) => {
  const [config, setConfig] = useState<ReturnedConfig | null>(null)
  const [dirty, setDirty] = useState(false)
  const [said, setSaid] = useState("")
  const [problem, setProblem] = useState("")
  useEffect(() => {
    client.agents.config(agent.agent_id).then(setConfig, (error: unknown) => setProblem(inWords(error)))
  }, [])
  if (config === null)
    return <section class="editor">{problem === "" ? <p>Loading ...</p> : <Alert text={problem} />}</section>

  const change = (part: Partial<Pick<ReturnedConfig, "prompt" | "voice" | "conversation" | "tools">>): void => {
    setConfig({ ...config, ...part })
    setDirty(true)
    setSaid("")
  }
  const act = async (what: () => Promise<string>): Promise<void> => {
    setProblem("")
    try {
      setSaid(await what())
      onChanged()
    } catch (error) {
      setProblem(inWords(error))
    }
  }
  const save = async (): Promise<string> => {
    const { conversation, prompt, tools, voice } = config
    setConfig(await client.agents.configure(agent.agent_id, { conversation, prompt, tools, voice }))
    setDirty(false)
    return "Draft saved."
  }
  const publish = async (): Promise<string> => {
    if (dirty) await save()
    return `Version ${(await client.agents.publish(agent.agent_id)).version_number} is live.`
  }
  const rename = async (name: string): Promise<string> => {
    await client.agents.update(agent.agent_id, { name })
    return `The name is ${name} now.`
  }
  const { conversation, prompt, tools, voice } = config
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
      {said !== "" && (
        <p class="note" role="status">
          {said}
        </p>
      )}
      {problem !== "" && <Alert text={problem} />}

      <label for="prompt">Prompt</label>
      <textarea
        id="prompt"
        rows={9}
        value={prompt.system_prompt}
        onInput={(event) => change({ prompt: { ...prompt, system_prompt: event.currentTarget.value } })}
      />

      <label for="opening">Opening</label>
      <select
        id="opening"
        value={prompt.first_message_mode}
        onChange={(event) =>
          change({
            prompt: { ...prompt, first_message_mode: event.currentTarget.value as typeof prompt.first_message_mode }
          })
        }
      >
        <option value="prompt">The agent finds its own words</option>
        <option value="fixed">A fixed sentence</option>
        <option value="off">The caller speaks first</option>
      </select>
      {prompt.first_message_mode === "fixed" && (
        <textarea
          aria-label="First message"
          rows={2}
          value={prompt.first_message}
          onInput={(event) => change({ prompt: { ...prompt, first_message: event.currentTarget.value } })}
        />
      )}
      {prompt.first_message_mode === "prompt" && (
        <textarea
          aria-label="How to open"
          rows={2}
          value={prompt.first_message_prompt}
          onInput={(event) => change({ prompt: { ...prompt, first_message_prompt: event.currentTarget.value } })}
        />
      )}

      <div class="pair">
        <div>
          <label for="voice">Voice</label>
          <select
            id="voice"
            value={voice.voice_id}
            onChange={(event) => change({ voice: { ...voice, voice_id: event.currentTarget.value } })}
          >
            <option value="">Default</option>
            {[...new Set([...voices, voice.voice_id])]
              .filter((id) => id !== "")
              .map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
          </select>
        </div>
        <div>
          <label for="speed">Speed {voice.speed.toFixed(2)}</label>
          <input
            id="speed"
            type="range"
            min="0.5"
            max="2"
            step="0.05"
            value={voice.speed}
            onInput={(event) => change({ voice: { ...voice, speed: Number(event.currentTarget.value) } })}
          />
        </div>
      </div>

      <div class="pair">
        <div>
          <label for="wait">Wait before answering, {conversation.response_wait_ms} ms</label>
          <input
            id="wait"
            type="range"
            min="300"
            max="2000"
            step="10"
            value={conversation.response_wait_ms}
            onInput={(event) =>
              change({ conversation: { ...conversation, response_wait_ms: Number(event.currentTarget.value) } })
            }
          />
        </div>
        <div>
          <label for="sensitivity">Interrupted</label>
          <select
            id="sensitivity"
            value={conversation.interruptible ? conversation.interruption_sensitivity : "never"}
            onChange={({ currentTarget: { value } }) =>
              change({
                conversation: {
                  ...conversation,
                  interruptible: value !== "never",
                  ...(value === "low" || value === "balanced" || value === "high"
                    ? { interruption_sensitivity: value }
                    : {})
                }
              })
            }
          >
            <option value="high">at the first sound</option>
            <option value="balanced">by a voice</option>
            <option value="low">by a sentence</option>
            <option value="never">never</option>
          </select>
        </div>
      </div>

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
    </section>
  )
}

const Alert = ({ text }: { readonly text: string }) => (
  <p class="problem" role="alert">
    {text}
  </p>
)
