// The one clock of a call. Every time in its journal, its decisions and its latency counts from the same moment.
import { Clock, Effect } from "effect"

/** The present, in the call's time and in the world's. */
export interface CallClock {
  /** Milliseconds since the call began, monotonic, with fractions. */
  readonly now: () => number
  /** Wall clock, ISO 8601 in UTC. */
  readonly iso: () => string
}

/** Starts at zero. */
export const make: Effect.Effect<CallClock> = Effect.map(Clock.Clock, (clock) => {
  const startedAt = clock.currentTimeNanosUnsafe()
  return {
    now: () => Number(clock.currentTimeNanosUnsafe() - startedAt) / 1e6,
    iso: () => new Date(clock.currentTimeMillisUnsafe()).toISOString()
  }
})
