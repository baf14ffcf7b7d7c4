// Who answers for a child of a call when it fails. Every fiber of a call is started through here, so that none is left
// unobserved: what a typed failure of the child means, and what a defect means, is written where it is started.
import { Cause, Effect, Exit, type Fiber, type Scope } from "effect"

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

/**
 * The child under its policy: never fails; ends as interrupted when it was interrupted. A defect counts also when it
 * happened while the child was being interrupted.
 */
export const supervise = <A, E, R>(child: Effect.Effect<A, E, R>, policy: Policy<E>): Effect.Effect<void, never, R> =>
  child.pipe(
    // Not `catchCause`: a handler does not run in a fiber that is being interrupted.
    Effect.onExit((exit) => Effect.sync(() => Exit.isFailure(exit) && tell(exit.cause, policy))),
    Effect.asVoid,
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause as Cause.Cause<never>) : Effect.void
    )
  )

const tell = <E>(cause: Cause.Cause<E>, { child, onDefect, onFailure }: Policy<E>): void => {
  if (Cause.hasDies(cause)) return onDefect(Cause.fromReasons(cause.reasons.filter(Cause.isDieReason)), child)
  const failure = cause.reasons.find(Cause.isFailReason)
  if (failure === undefined) return
  try {
    onFailure(failure.error)
  } catch (defect) {
    onDefect(Cause.die(defect), child)
  }
}

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
