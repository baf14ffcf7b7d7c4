// Calls in numbers, from the facts they tell: how many are live, how long a caller waits for an answer and for what.
// No label holds an id: a series per call would never end.
import type { Fact } from "@parley/contract/Fact"
import { Effect, Metric } from "effect"

const live = Metric.gauge("parley_calls_live", { description: "Calls that people talk in now" })

/** The console calls a second a good answer; finer where answers ought to be. */
const boundaries = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 2, 3, 5, 10]

const answer = Metric.histogram("parley_voice_to_voice_seconds", {
  description: "From the caller's last voiced sample to the agent's first, by turn",
  boundaries
})
const wait = Metric.histogram("parley_turn_wait_seconds", {
  description: "What a turn's time to its answer was spent on",
  boundaries
})

const waits = ["endpointing", "asr_final", "llm_first_token", "phrase", "tts_first_audio", "playout"] as const

export interface CallMetrics {
  readonly began: () => void
  readonly ended: () => void
  readonly remember: (fact: Fact) => void
}

export const make: Effect.Effect<CallMetrics> = Effect.map(Effect.context<never>(), (context) => {
  const byWait = waits.map((name) => [`${name}_ms`, Metric.withAttributes(wait, { wait: name })] as const)
  live.updateUnsafe(0, context)
  return {
    began: () => live.modifyUnsafe(1, context),
    ended: () => live.modifyUnsafe(-1, context),
    remember: (fact) => {
      if (fact._tag !== "TurnMeasured") return
      answer.updateUnsafe(fact.latency.total_ms / 1000, context)
      for (const [name, histogram] of byWait) histogram.updateUnsafe(fact.latency[name] / 1000, context)
    }
  }
})
