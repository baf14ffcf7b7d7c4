// The port of an embedding model: texts in, one vector each. What the numbers mean is the model's affair; vectors of one model
// compare by their angle.
import { Data, type Effect } from "effect"

/** Why there are no vectors. `Unavailable` may be tried again. */
export class EmbedError extends Data.TaggedError("EmbedError")<{
  readonly reason: "Unavailable" | "Refused" | "InvalidOutput"
  /** For people; holds no key, text or address. */
  readonly message: string
}> {
  get isRetryable(): boolean {
    return this.reason === "Unavailable"
  }
}

/** The port of an embedding model. */
export interface Embedder {
  /** Vectors of another model are not to be compared with this one's. */
  readonly model: string
  /** In the order of the texts, all of one length. Unbounded in time; interrupting it ends the request. */
  readonly embed: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Float32Array>, EmbedError>
}
