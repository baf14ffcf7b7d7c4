// Commits that wait for their answers, in order, each within a bound. An entry whose answer nobody wants (discarded)
// keeps its place until the other side has answered it.
import { Effect, Fiber } from "effect"

/** Commits in the order in which they are answered. */
export interface CommitQueue<A> {
  readonly add: (entry: A) => void
  /** The one that is answered next. */
  readonly first: () => A | undefined
  /** The first was answered. */
  readonly shift: () => A | undefined
  /** Nothing is awaited any more. */
  readonly clear: () => void
}

/** `onLate` is called once at most, when an entry stayed longer than `answerMs`. */
export const makeCommitQueue = <A>(
  fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>,
  answerMs: number,
  onLate: () => unknown
): CommitQueue<A> => {
  const line: Array<{ readonly entry: A; readonly deadline: Fiber.Fiber<void> }> = []
  const clear = () => {
    for (const { deadline } of line.splice(0)) fork(Fiber.interrupt(deadline))
  }
  return {
    add: (entry) => {
      const late = Effect.andThen(Effect.sleep(answerMs), Effect.sync(onLate))
      line.push({ entry, deadline: fork(late) })
    },
    first: () => line[0]?.entry,
    shift: () => {
      const first = line.shift()
      if (first !== undefined) fork(Fiber.interrupt(first.deadline))
      return first?.entry
    },
    clear
  }
}
