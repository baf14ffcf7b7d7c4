// One 20 ms tick for all calls of the process. A late tick is dropped, never made up for: a backlog of
// frames encoded at once is how media servers fall off the cliff.
import { Context, Effect, Layer } from "effect"
import { frameMs } from "../leg/Leg.ts"

export interface Ticking {
  /** Called every 20 ms on the media thread; must not throw and must not wait. */
  readonly tick: () => void
  /** Nothing to play and nothing to tell: a virtual clock may stand still until `onBusy`. */
  readonly idle: () => boolean
  onBusy: () => void
}

export class Pacer extends Context.Service<
  Pacer,
  {
    /** Adds one to the round; the returned function removes it. */
    readonly join: (player: Ticking) => () => void
    /** Milliseconds by which ticks came late, worst since asked last. */
    readonly worstLatenessMs: () => number
  }
>()("@parley/engine/Pacer") {
  static readonly layer = Layer.effect(
    Pacer,
    Effect.gen(function* () {
      const players = new Set<Ticking>()
      let due = performance.now() + frameMs
      let worst = 0
      let timer: NodeJS.Timeout | undefined
      const round = (): void => {
        const now = performance.now()
        if (now - due > worst) worst = now - due
        // The next due time keeps its phase; whole periods that were missed are gone.
        due += frameMs * Math.max(1, Math.ceil((now - due) / frameMs))
        for (const player of players) player.tick()
        timer = players.size === 0 ? undefined : setTimeout(round, Math.max(0, due - performance.now()))
      }
      yield* Effect.addFinalizer(() => Effect.sync(() => clearTimeout(timer)))
      return {
        join: (player) => {
          players.add(player)
          if (timer === undefined) {
            due = performance.now() + frameMs
            timer = setTimeout(round, frameMs)
          }
          return () => players.delete(player)
        },
        worstLatenessMs: () => {
          const seen = worst
          worst = 0
          return seen
        }
      }
    })
  )
}
