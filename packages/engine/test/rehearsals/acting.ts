// How a rehearsal's caller acts in time.
import { Effect } from "effect"
import { TestClock } from "effect/testing"

/** Begins the act and lets the clock run for `ms`, act included. */
export const during = <A, E, R>(act: Effect.Effect<A, E, R>, ms: number) =>
  Effect.andThen(Effect.forkScoped(act), TestClock.adjust(ms))

export const wait = (ms: number) => TestClock.adjust(ms)
