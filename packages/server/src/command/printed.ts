// How a command of the operator prints its result.
import { Console, Effect } from "effect"

/** Prints the text that `work` gives, one line or several, to standard output; prints nothing when it is empty. */
export const printed = <E, R>(work: Effect.Effect<string, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(work, (text) => (text === "" ? Effect.void : Console.log(text)))
