// Why the service cannot start, in one line for the person at the terminal. Holds no secret.
import { Data } from "effect"

/** `message` is for the person at the terminal. */
export class StartFault extends Data.TaggedError("StartFault")<{ readonly message: string }> {}
