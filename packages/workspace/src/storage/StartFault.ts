// Why the service cannot start, in one line for the person at the terminal. Holds no secret.
import { Data } from "effect"

export class StartFault extends Data.TaggedError("StartFault")<{ readonly message: string }> {}
