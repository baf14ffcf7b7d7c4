// Which turn is to be measured next. A turn is measured once, when its answer is first heard; a turn that is replaced
// before that (the caller went on) is not measured at all.
import type { TurnLatency } from "@parley/contract/TurnLatency"
import type { TurnClocks } from "../turn/Move.ts"
import { measure, type ReplyMarks } from "./TurnLatency.ts"

/** Measures each turn once: when the reply that answers it is first heard. */
export class TurnMeter {
  private turn: { readonly id: string; readonly clocks: TurnClocks } | null = null

  /** The turn that the next reply answers. */
  answers(id: string, clocks: TurnClocks): void {
    this.turn = { id, clocks }
  }

  /** A reply began to be heard at `at`; undefined when its turn is measured already, or not the last one. */
  started(
    reply: { readonly turnId: string; readonly marks: ReplyMarks; readonly speculative: boolean },
    at: number
  ): TurnLatency | undefined {
    if (this.turn === null || reply.turnId !== this.turn.id) return undefined
    const { clocks, id } = this.turn
    this.turn = null
    return measure(id, clocks, reply.marks, at, reply.speculative)
  }
}
