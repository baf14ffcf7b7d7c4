// Whose turn it is: when the agent begins, when it lets itself be interrupted, and what it does in silence.
import type { DraftProps } from "./draft.ts"

export const TurnTaking = ({ change, draft }: DraftProps) => {
  const { conversation } = draft
  const set = (part: Partial<typeof conversation>): void => change({ conversation: { ...conversation, ...part } })
  const longest = conversation.response_max_wait_ms
  return (
    <>
      <h3>Turns</h3>
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
            onInput={(event) => set({ response_wait_ms: Number(event.currentTarget.value) })}
          />
        </div>
        <div>
          <label for="longest">And at most{longest === null ? "" : `, ${longest} ms`}</label>
          <div class="row">
            <select
              aria-label="Longest wait"
              value={longest === null ? "auto" : "own"}
              onChange={(event) => set({ response_max_wait_ms: event.currentTarget.value === "auto" ? null : 2000 })}
            >
              <option value="auto">as it sees fit</option>
              <option value="own">so long</option>
            </select>
            <input
              id="longest"
              type="range"
              min="0"
              max="4000"
              step="50"
              disabled={longest === null}
              value={longest ?? 2000}
              onInput={(event) => set({ response_max_wait_ms: Number(event.currentTarget.value) })}
            />
          </div>
        </div>
      </div>
      <label for="sensitivity">Interrupted</label>
      <select
        id="sensitivity"
        value={conversation.interruptible ? conversation.interruption_sensitivity : "never"}
        onChange={({ currentTarget: { value } }) =>
          set({
            interruptible: value !== "never",
            ...(value === "low" || value === "balanced" || value === "high" ? { interruption_sensitivity: value } : {})
          })
        }
      >
        <option value="high">at the first sound</option>
        <option value="balanced">by a voice</option>
        <option value="low">by a sentence</option>
        <option value="never">never</option>
      </select>

      <h3>Silence</h3>
      <label class="check">
        <input
          type="checkbox"
          checked={conversation.reengage_enabled}
          onChange={(event) => set({ reengage_enabled: event.currentTarget.checked })}
        />
        Asks whether the caller is still there
      </label>
      <label for="silence">Hangs up after so many seconds of silence</label>
      <input
        id="silence"
        type="number"
        min={10}
        max={3600}
        value={conversation.hangup_after_seconds}
        onInput={(event) => set({ hangup_after_seconds: Number(event.currentTarget.value) })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={conversation.hangup_farewell_enabled}
          onChange={(event) => set({ hangup_farewell_enabled: event.currentTarget.checked })}
        />
        Says goodbye before it hangs up
      </label>
    </>
  )
}
