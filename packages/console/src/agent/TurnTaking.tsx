// When the agent begins to answer, when it can be interrupted, and what it does in silence.
import type { DraftProps } from "./draft.ts"

/** The settings of turn taking and silence; waits are in milliseconds, silence in seconds. */
export const TurnTaking = ({ change, draft }: DraftProps) => {
  const { conversation } = draft
  const set = (part: Partial<typeof conversation>): void => change({ conversation: { ...conversation, ...part } })
  const longest = conversation.response_max_wait_ms
  return (
    <>
      <h3>Turn taking</h3>
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
          <label for="longest">Maximum wait{longest === null ? "" : `, ${longest} ms`}</label>
          <div class="row">
            <select
              aria-label="Maximum wait mode"
              value={longest === null ? "auto" : "own"}
              onChange={(event) => set({ response_max_wait_ms: event.currentTarget.value === "auto" ? null : 2000 })}
            >
              <option value="auto">automatic</option>
              <option value="own">fixed</option>
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
      <label for="sensitivity">Interruption</label>
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
        <option value="high">on any sound</option>
        <option value="balanced">on speech</option>
        <option value="low">on a full sentence</option>
        <option value="never">never</option>
      </select>

      <h3>Silence</h3>
      <label class="check">
        <input
          type="checkbox"
          checked={conversation.reengage_enabled}
          onChange={(event) => set({ reengage_enabled: event.currentTarget.checked })}
        />
        Ask whether the caller is still there
      </label>
      <label for="silence">Hang up after this many seconds of silence</label>
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
        Say goodbye before hanging up
      </label>
    </>
  )
}
