// What the peers of calls said that never got a leg, by Call-ID, until whoever has the session asks for it. The SIP
// server tells of a call once its last transaction is over, which may be before or after that. What nobody asks for is
// forgotten, oldest first.
import type { SipTraceLine } from "@parley/transport/phone/Phone"
import { Deferred, Effect } from "effect"

type Trace = ReadonlyArray<SipTraceLine>

const most = 1000
/** Longer than any SIP transaction takes to end (RFC 3261 17.1.1.2, 32 s). */
const longestMs = 40_000

/** SIP traces of calls without a leg; keeps at most 1,000. */
export class CallTraces {
  readonly #traces = new Map<string, Deferred.Deferred<Trace>>()

  /** The call with this Call-ID is over, and this is its trace. */
  tell(callId: string, trace: Trace): void {
    Deferred.doneUnsafe(this.#of(callId), Effect.succeed(trace))
  }

  /** Waits at most 40 s; empty when nothing came by then. A trace is given once. */
  of(callId: string): Effect.Effect<Trace> {
    return Effect.suspend(() => Deferred.await(this.#of(callId))).pipe(
      Effect.timeoutOrElse({ duration: longestMs, orElse: () => Effect.succeed<Trace>([]) }),
      Effect.ensuring(Effect.sync(() => this.#traces.delete(callId)))
    )
  }

  #of(callId: string): Deferred.Deferred<Trace> {
    const known = this.#traces.get(callId)
    if (known !== undefined) return known
    const made = Deferred.makeUnsafe<Trace>()
    this.#traces.set(callId, made)
    for (const oldest of this.#traces.keys()) {
      if (this.#traces.size <= most) break
      this.#traces.delete(oldest)
    }
    return made
  }
}
