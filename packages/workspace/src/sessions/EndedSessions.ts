// How many sessions ended for which reason, counted where a record becomes final: once per session.
import type { EndReason } from "@parley/contract/EndReason"
import { Effect, Metric } from "effect"

const ended = Metric.counter("parley_sessions_ended_total", {
  description: "Sessions that ended, by reason",
  incremental: true
})

/** Adds to `parley_sessions_ended_total`. */
export const countEnded = (reason: EndReason, sessions = 1): Effect.Effect<void> =>
  sessions === 0 ? Effect.void : Metric.update(Metric.withAttributes(ended, { end_reason: reason }), sessions)
