// One 20 ms tick for all calls of the process. A late tick is dropped, never made up for: a backlog of
// frames encoded at once is how media servers fall off the cliff.
import { Context, Effect, Layer } from "effect"
import { frameMs } from "../leg/Leg.ts"

/** Whoever is to be called on the tick. */
export interface Ticking {
  /** Called every 20 ms on the media thread; must not wait. */
  readonly tick: () => void
  /** `tick` threw: it is not called any more, and nobody else's tick is touched. */
  readonly onDefect: (defect: unknown) => void
}

/** The process's tick. Who joins is called from the next tick on. */
export class Pacer extends Context.Service<
  Pacer,
  {
    /** Adds one to the round; the returned function removes it. */
    readonly join: (player: Ticking) => () => void
    /** Milliseconds by which ticks came late, worst since asked last. */
    readonly worstLatenessMs: () => number
  }
>()("@parley/engine/Pacer") {
  /** On timers of Node's event loop, in phase with its own start. */
  static readonly layer = Layer.effect(
    Pacer,
    Effect.gen(function* () {
      const round = makeRound()
      let due = performance.now() + frameMs
      let worst = 0
      let timer: NodeJS.Timeout | undefined
      const onTimer = (): void => {
        const now = performance.now()
        if (now - due > worst) worst = now - due
        // The next due time keeps its phase; whole periods that were missed are gone.
        due += frameMs * Math.max(1, Math.ceil((now - due) / frameMs))
        round.tick()
        timer = round.empty() ? undefined : setTimeout(onTimer, Math.max(0, due - performance.now()))
      }
      yield* Effect.addFinalizer(() => Effect.sync(() => clearTimeout(timer)))
      return {
        join: (player) => {
          const leave = round.join(player)
          if (timer === undefined) {
            due = performance.now() + frameMs
            timer = setTimeout(onTimer, frameMs)
          }
          return leave
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

/** Those who are ticked together. One that throws is taken out and told. */
export const makeRound = () => {
  const players = new Set<Ticking>()
  return {
    join: (player: Ticking): (() => void) => {
      players.add(player)
      return () => void players.delete(player)
    },
    empty: (): boolean => players.size === 0,
    tick: (): void => {
      for (const player of players) {
        try {
          player.tick()
        } catch (defect) {
          players.delete(player)
          player.onDefect(defect)
        }
      }
    }
  }
}
