// The tick on the Effect Clock, so that a TestClock plays a call as fast as it can be computed. Every 20 ms of
// the clock, in phase with its zero, as long as somebody is in the round.
import { Clock, Effect, Latch, Layer } from "effect"
import { frameMs } from "../leg/Leg.ts"
import { makeRound, Pacer } from "../playout/Pacer.ts"

/** A `Pacer` for tests. */
export const layer: Layer.Layer<Pacer> = Layer.effect(
  Pacer,
  Effect.gen(function* () {
    const round = makeRound()
    const joined = yield* Latch.make(false)
    const tick = Effect.gen(function* () {
      yield* joined.await
      const now = yield* Clock.currentTimeMillis
      yield* Effect.sleep(frameMs - (now % frameMs))
      round.tick()
      if (round.empty()) joined.closeUnsafe()
    })
    yield* Effect.forkScoped(Effect.forever(tick))
    return {
      join: (player) => {
        const leave = round.join(player)
        joined.openUnsafe()
        return leave
      },
      worstLatenessMs: () => 0
    }
  })
)
