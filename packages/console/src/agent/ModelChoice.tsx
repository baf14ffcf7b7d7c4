// The language model of the agent: the platform's, or an OpenAI-compatible endpoint of the customer. Its key is never
// shown; left empty, the stored key is kept as long as the address is the same.
import type { DraftProps } from "./draft.ts"

interface Props extends DraftProps {
  /** The address whose key is stored; undefined for none. */
  readonly keyed: string | undefined
}

/** The language model of the agent. */
export const ModelChoice = ({ change, draft, keyed }: Props) => {
  const { custom, model } = draft.llm
  const set = (part: Partial<NonNullable<typeof custom>>): void =>
    change({ llm: { model: null, custom: { ...(custom ?? none), ...part } } })
  return (
    <>
      <h3>Model</h3>
      <select
        aria-label="Model provider"
        value={custom === null ? "platform" : "own"}
        onChange={(event) =>
          change({
            llm: event.currentTarget.value === "own" ? { model: null, custom: none } : { model: null, custom: null }
          })
        }
      >
        <option value="platform">Platform default{model === null ? "" : `, ${model}`}</option>
        <option value="own">Custom endpoint</option>
      </select>
      {custom !== null && (
        <>
          <label for="llm-url">Address, OpenAI-compatible</label>
          <input
            id="llm-url"
            type="url"
            placeholder="https://api.example.com/v1"
            value={custom.base_url}
            onInput={(event) => set({ base_url: event.currentTarget.value })}
          />
          <div class="pair">
            <div>
              <label for="llm-model">Model</label>
              <input
                id="llm-model"
                value={custom.model}
                onInput={(event) => set({ model: event.currentTarget.value })}
              />
            </div>
            <div>
              <label for="llm-key">Key</label>
              <input
                id="llm-key"
                type="password"
                autoComplete="new-password"
                placeholder={keyed === custom.base_url ? "stored" : ""}
                value={custom.api_key ?? ""}
                onInput={({ currentTarget: { value } }) => set({ api_key: value === "" ? null : value })}
              />
            </div>
          </div>
        </>
      )}
    </>
  )
}

const none = { base_url: "", model: "", api_key: null }
