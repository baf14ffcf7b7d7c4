// How the process is told to stop, beyond the first SIGINT or SIGTERM that the runtime turns into an interruption.
import { Effect } from "effect"

/** Ctrl-C reaches the whole process group and launchers pass it on: signals within this time count as one. */
const sameSignalMs = 500

/** A second signal ends the process at once with status 130; its database is stopped as it exits. */
export const forceOnSecondSignal = (): void => {
  let first: number | undefined
  const onSignal = () => {
    const now = performance.now()
    first ??= now
    if (now - first > sameSignalMs) process.exit(130)
  }
  process.on("SIGINT", onSignal)
  process.on("SIGTERM", onSignal)
}

/** Started by our launcher, the service stops when the launcher is gone. */
export const stopWithParent = <A, E, R>(main: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  if (process.send === undefined) return main
  const orphaned = Effect.callback<never>((resume) => {
    process.once("disconnect", () => resume(Effect.interrupt))
    process.channel?.unref()
  })
  return Effect.raceFirst(main, orphaned)
}
