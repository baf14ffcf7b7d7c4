// The tick on the Effect Clock, so that a TestClock plays a call as fast as it can be computed.
import { Effect, Layer } from "effect"
import { Pacer, type Ticking } from "../media/Pacer.ts"
import { frameMs } from "../ports/Leg.ts"

export const layer: Layer.Layer<Pacer> = Layer.effect(
  Pacer,
  Effect.gen(function* () {
    const players = new Set<Ticking>()
    const round = Effect.sync(() => {
      for (const player of players) player.tick()
    })
    yield* Effect.sleep(frameMs).pipe(Effect.andThen(round), Effect.forever, Effect.forkScoped)
    return {
      join: (player) => {
        players.add(player)
        return () => players.delete(player)
      },
      worstLatenessMs: () => 0
    }
  })
)
