// The tick on the Effect Clock, so that a TestClock plays a call as fast as it can be computed. It keeps
// the phase of a running tick, but does not run while there is nothing to play.
import { Clock, Effect, Latch, Layer } from "effect"
import { Pacer, type Ticking } from "../playout/Pacer.ts"
import { frameMs } from "../leg/Leg.ts"

export const layer: Layer.Layer<Pacer> = Layer.effect(
  Pacer,
  Effect.gen(function* () {
    const players = new Set<Ticking>()
    const busy = yield* Latch.make(false)
    const round = Effect.gen(function* () {
      yield* busy.await
      const now = yield* Clock.currentTimeMillis
      yield* Effect.sleep(frameMs - (now % frameMs))
      let playing = false
      for (const player of players) {
        player.tick()
        playing ||= !player.idle()
      }
      if (!playing) busy.closeUnsafe()
    })
    yield* Effect.forkScoped(Effect.forever(round))
    return {
      join: (player) => {
        players.add(player)
        player.onBusy = () => void busy.openUnsafe()
        return () => players.delete(player)
      },
      worstLatenessMs: () => 0
    }
  })
)
