// The latency of one turn in named waits: the time from the last voiced sample received to the
// first reply sample sent, split into named waits that sum to the total within 5 ms.
import { Schema } from "effect"

/** Milliseconds. A wait that did not occur (typed input has no endpointing) is 0. */
export const TurnLatency = Schema.Struct({
  turn_id: Schema.String,
  /** The engine decided the caller's turn was over: silence waited for. */
  endpointing_ms: Schema.Number,
  /** From the decision until the recogniser's final text, when it came later. */
  asr_final_ms: Schema.Number,
  /** Until the model's first word, counted from when both of the above were there. */
  llm_first_token_ms: Schema.Number,
  /** Until the first phrase was complete enough to speak. */
  phrase_ms: Schema.Number,
  /** Until the synthesizer's first audio. */
  tts_first_audio_ms: Schema.Number,
  /** Until the first sample left for the caller. */
  playout_ms: Schema.Number,
  /** Voice to voice, measured by itself, not summed. */
  total_ms: Schema.Number,
  /** The reply was begun before the turn was certain to be over, and kept. */
  speculative: Schema.Boolean
})
export type TurnLatency = typeof TurnLatency.Type
