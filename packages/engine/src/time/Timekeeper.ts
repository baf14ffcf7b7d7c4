// Wakes the call when a decision is due although nothing happens: the end of a turn, but also the limits of the call
// (longest duration, silence, re-engage; see limits.ts). Holds one alarm; which one, turn-taking says.
import { Effect, FiberHandle, type Scope } from "effect"
import { cannotFail, type OnDefect, supervise } from "../supervise.ts"

/** Whose alarm it is. */
export interface TimekeeperOptions {
  /** Milliseconds since the call began. */
  readonly now: () => number
  readonly onDue: () => void
  readonly onDefect: OnDefect
}

/** One alarm at a time. */
export interface Timekeeper {
  /** `onDue` is called at `at` (milliseconds since the call began) instead of when it was to be; `Infinity` for never. */
  readonly wakeAt: (at: number) => Effect.Effect<void>
}

/** For the length of the scope; no alarm is set. */
export const make = Effect.fnUntraced(function* ({
  now,
  onDefect,
  onDue
}: TimekeeperOptions): Effect.fn.Return<Timekeeper, never, Scope.Scope> {
  const alarm = yield* FiberHandle.make<void>()
  const ring = (at: number): Effect.Effect<void> =>
    supervise(
      Effect.suspend(() => Effect.map(Effect.sleep(Math.max(0, at - now())), onDue)),
      { child: "Timekeeper", onFailure: cannotFail, onDefect }
    )
  return {
    wakeAt: (at) => (Number.isFinite(at) ? Effect.asVoid(FiberHandle.run(alarm, ring(at))) : FiberHandle.clear(alarm))
  }
})
