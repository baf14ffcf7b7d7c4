// The latency of each turn as a bar: its six waits, one after the other, on one scale.
import type { TurnLatency } from "@parley/contract/TurnLatency"

const waits = [
  ["endpointing_ms", "endpointing"],
  ["asr_final_ms", "ASR final"],
  ["llm_first_token_ms", "LLM first token"],
  ["phrase_ms", "phrase"],
  ["tts_first_audio_ms", "TTS first audio"],
  ["playout_ms", "playout"]
] as const

/** One bar per turn, divided into its six waits; all bars have one scale, in milliseconds. */
export const Waterfall = ({ turns }: { readonly turns: ReadonlyArray<TurnLatency> }) => {
  const longest = Math.max(1_000, ...turns.map((turn) => turn.total_ms))
  return (
    <section class="waterfall" aria-label="Latency of each turn">
      <h3>
        Voice-to-voice latency <span class="scale">full width: {(longest / 1_000).toFixed(1)} s</span>
      </h3>
      <ul class="legend">
        {waits.map(([key, name]) => (
          <li key={key}>
            <i class={key} /> {name}
          </li>
        ))}
      </ul>
      <ol>
        {turns.map((turn, index) => (
          <li key={turn.turn_id}>
            <b>{index + 1}</b>
            <div class="bar" style={{ width: `${(100 * turn.total_ms) / longest}%` }}>
              {waits.map(([key, name]) => (
                <i
                  key={key}
                  class={key}
                  style={{ flexGrow: turn[key] }}
                  title={`${name}: ${Math.round(turn[key])} ms`}
                />
              ))}
            </div>
            <span>
              {Math.round(turn.total_ms)} ms{turn.speculative ? "" : " *"}
            </span>
          </li>
        ))}
      </ol>
      {turns.length === 0 && <p class="hint">The latency of each turn appears here.</p>}
      {turns.some((turn) => !turn.speculative) && <p class="hint">* typed input, or a reply without speculation</p>}
    </section>
  )
}
