// Turn-taking as an actor: takes one signal at a time out of the mailbox, decides with `step`, has the moves carried out
// in order and asks to be woken at the next deadline. Ends when the state has ended.
import { Effect, Queue } from "effect"
import type { EndReason } from "@parley/contract/EndReason"
import { nextDeadline } from "./deadlines.ts"
import type { Move } from "./Move.ts"
import type { Signal } from "./Signal.ts"
import { step } from "./TurnTaking.ts"
import { initial, type TurnRules } from "./TurnState.ts"

/** What the loop takes from, tells and asks. */
export interface TurnLoopOptions {
  readonly rules: TurnRules
  readonly mailbox: Queue.Dequeue<Signal>
  /** Milliseconds since the call began. */
  readonly now: () => number
  /** Told of each signal before it is decided on, and of each move before it is carried out. */
  readonly journal: {
    readonly signal: (at: number, signal: Signal) => void
    readonly move: (at: number, move: Move) => void
  }
  /** Carries a move out; the next signal waits for it. */
  readonly perform: (move: Move) => Effect.Effect<void>
  /** A `TimePassed` is wanted at that moment, and no other; `Infinity` for none. */
  readonly wakeAt: (at: number) => Effect.Effect<void>
}

/** Returns why the call ended. */
export const run = Effect.fnUntraced(function* (options: TurnLoopOptions): Effect.fn.Return<EndReason> {
  const { journal, mailbox, now, perform, rules, wakeAt } = options
  let state = initial(rules)
  let alarmAt = Number.POSITIVE_INFINITY
  while (state.ended === null) {
    const signal = yield* Queue.take(mailbox)
    const at = now()
    if (signal._tag === "TimePassed") alarmAt = Number.POSITIVE_INFINITY
    journal.signal(at, signal)
    const [next, moves] = step(state, signal, at)
    state = next
    for (const move of moves) {
      journal.move(at, move)
      yield* perform(move)
    }
    const due = nextDeadline(state)?.at ?? Number.POSITIVE_INFINITY
    if (due !== alarmAt) {
      alarmAt = due
      yield* wakeAt(due)
    }
  }
  return state.ended
})
