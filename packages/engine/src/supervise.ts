// Who answers for a child of a call when it fails. Every fiber of a call is started through here, so that none is left
// unobserved: what a typed failure of the child means, and what a defect means, is written where it is started.
import { Cause, Effect, type Fiber, type Scope } from "effect"

/** Told of a defect (something threw) and of the child it happened in. Must not throw. */
export type OnDefect = (cause: Cause.Cause<never>, child: string) => void

/** What the failures of one child mean. Being interrupted is no failure: whoever closed the scope meant it. */
export interface Policy<E> {
  /** Names the child in logs. */
  readonly child: string
  /** A failure that the child's type tells of. `cannotFail` for those that have none. */
  readonly onFailure: (error: E) => void
  readonly onDefect: OnDefect
}

/** For children whose failures are all handled inside. */
export const cannotFail = (error: never): void => error

/** The child under its policy: never fails; ends as interrupted when it was interrupted. */
export const supervise = <A, E, R>(child: Effect.Effect<A, E, R>, policy: Policy<E>): Effect.Effect<void, never, R> =>
  Effect.asVoid(child).pipe(
    Effect.catchCause((cause): Effect.Effect<void> => {
      if (Cause.hasDies(cause)) return Effect.failCause(Cause.fromReasons(cause.reasons.filter(Cause.isDieReason)))
      const error = cause.reasons.find(Cause.isFailReason)
      if (error !== undefined) return Effect.sync(() => policy.onFailure(error.error))
      return Effect.failCause(Cause.fromReasons(cause.reasons.filter(Cause.isInterruptReason)))
    }),
    // Also what `onFailure` throws.
    Effect.catchCause((cause) =>
      Cause.hasDies(cause) ? Effect.sync(() => policy.onDefect(cause, policy.child)) : Effect.failCause(cause)
    )
  )

/** Starts the child in the scope, under its policy. */
export const forkSupervised = <A, E, R>(
  scope: Scope.Scope,
  child: Effect.Effect<A, E, R>,
  policy: Policy<E>
): Effect.Effect<Fiber.Fiber<void>, never, R> => Effect.forkIn(supervise(child, policy), scope)

/** A callback that others call, on the media thread or from a library: what it throws is the child's defect, not theirs. */
export const guarded =
  <A>(child: string, onDefect: OnDefect, callback: (value: A) => void): ((value: A) => void) =>
  (value) => {
    try {
      callback(value)
    } catch (defect) {
      onDefect(Cause.die(defect), child)
    }
  }
