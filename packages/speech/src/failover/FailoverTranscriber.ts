// Several transcribers as one. An `open` that fails moves on to the next provider; a stream that dies later tells
// its owner, who opens again and is then served by another, because the dead one is put aside.
import { Clock, Effect, Exit, Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import type { Transcriber } from "../ports/Transcriber.ts"
import { defaultCoolDownMs, inOrder } from "./ProviderHealth.ts"
import type { Candidate } from "./ProviderHealth.ts"

/** The first provider whose `open` succeeds serves the stream. Fails with the last provider's error, or `Unavailable`. */
export const makeFailoverTranscriber = (
  candidates: ReadonlyArray<Candidate<Transcriber>>,
  coolDownMs = defaultCoolDownMs
): Transcriber => ({
  /** Of the one that would be asked first now, by the wall clock. */
  get provider() {
    return inOrder(candidates, Date.now())[0]?.provider ?? "none"
  },
  get streaming() {
    return inOrder(candidates, Date.now())[0]?.adapter.streaming ?? false
  },
  open: Effect.fnUntraced(function* (options) {
    const clock = yield* Effect.clockWith(Effect.succeed)
    const callScope = yield* Effect.scope
    let last = nobody
    for (const candidate of inOrder(candidates, yield* Clock.currentTimeMillis)) {
      const scope = yield* Scope.fork(callScope)
      const opened = candidate.adapter.open({
        ...options,
        onEvent: (event) => {
          candidate.served()
          options.onEvent(event)
        },
        onFailure: (error) => {
          candidate.failed(error, clock.currentTimeMillisUnsafe(), coolDownMs)
          options.onFailure(error)
        }
      })
      const result = yield* Effect.result(Scope.provide(opened, scope))
      if (result._tag === "Success") return result.success
      yield* Scope.close(scope, Exit.void)
      candidate.failed(result.failure, clock.currentTimeMillisUnsafe(), coolDownMs)
      last = result.failure
      if (!last.canFailOver) break
    }
    return yield* last
  })
})

const nobody = new SpeechError({
  reason: "Unavailable",
  provider: "none",
  message: "no speech recognition is available"
})
