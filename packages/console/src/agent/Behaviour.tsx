// How the agent behaves: prompt, opening, voice, its turns, its hearing, the model that thinks, what it never does.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { DraftProps } from "./draft.ts"
import { Hearing } from "./Hearing.tsx"
import { ModelChoice } from "./ModelChoice.tsx"
import { TurnTaking } from "./TurnTaking.tsx"
import { VoiceChoice } from "./VoiceChoice.tsx"

interface Props extends DraftProps {
  readonly client: ParleyClient
  /** Of the engines. */
  readonly voices: ReadonlyArray<string>
  /** The address of the endpoint whose key is stored. */
  readonly keyed: string | undefined
}

export const Behaviour = ({ change, client, draft, keyed, voices }: Props) => {
  const { guardrails, prompt } = draft
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

      <VoiceChoice client={client} draft={draft} change={change} voices={voices} />
      <TurnTaking draft={draft} change={change} />
      <Hearing draft={draft} change={change} />
      <ModelChoice draft={draft} change={change} keyed={keyed} />

      <h3>Guardrails</h3>
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
