// Why a call gets no place.
import { Data } from "effect"

/** `stopping`: the service ends. `taken`: the session is live. `full`: every place is taken, of the service or of its tenant. */
export class NoPlace extends Data.TaggedError("NoPlace")<{ readonly reason: "stopping" | "taken" | "full" }> {}
