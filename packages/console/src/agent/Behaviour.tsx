// How the agent speaks and takes turns: prompt, opening, voice, patience.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { useLoaded } from "../loaded.ts"
import type { DraftProps } from "./draft.ts"

interface Props extends DraftProps {
  readonly client: ParleyClient
  /** Of the engines. */
  readonly voices: ReadonlyArray<string>
}

export const Behaviour = ({ change, client, draft, voices }: Props) => {
  const { conversation, guardrails, prompt, voice } = draft
  const own = useLoaded(() => client.voices.list({ self: true, page_size: 100 }), [])
  const models = own.value?.items ?? []
  return (
    <>
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
            {[...new Set([...voices, ...models.map((model) => model._id), voice.voice_id])]
              .filter((id) => id !== "")
              .map((id) => (
                <option key={id} value={id}>
                  {models.find((model) => model._id === id)?.title ?? id}
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
          checked={guardrails.focus}
          onChange={(event) => change({ guardrails: { ...guardrails, focus: event.currentTarget.checked } })}
        />
        Stays with its purpose
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={guardrails.manipulation}
          onChange={(event) => change({ guardrails: { ...guardrails, manipulation: event.currentTarget.checked } })}
        />
        Cannot be talked out of its instructions
      </label>
    </>
  )
}
