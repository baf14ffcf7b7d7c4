// The journal of a call: every signal and decision with its time, as facts in the order they happened.
// Told at once and kept by whoever listens.
import type { Fact } from "@parley/contract/Fact"
import type { Move } from "../turn/Move.ts"
import type { Signal } from "../turn/Signal.ts"

export interface Journal {
  readonly signal: (at: number, signal: Signal) => void
  readonly move: (at: number, move: Move) => void
  readonly note: (at: number, name: string, data: Record<string, unknown>) => void
  readonly fault: (at: number, name: string, data: Record<string, unknown>) => void
}

export const make = (remember: (fact: Fact) => void): Journal => {
  const write = (
    kind: "signal" | "move" | "note" | "fault",
    at: number,
    name: string,
    data: Record<string, unknown>
  ): void => remember({ _tag: "Journaled", entry: { at_ms: Math.round(at * 10) / 10, kind, name, data } })
  return {
    signal: (at, { _tag, ...data }) => write("signal", at, _tag, data),
    move: (at, { _tag, ...data }) => write("move", at, _tag, data),
    note: (at, name, data) => write("note", at, name, data),
    fault: (at, name, data) => write("fault", at, name, data)
  }
}
