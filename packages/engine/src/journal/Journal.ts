// The journal of a call: every signal and decision with its time, what is worth noting, and every failure met, as facts
// in the order they happened. Told at once and kept by whoever listens.
import type { Fact } from "@parley/contract/Fact"
import type { Move } from "../turn/Move.ts"
import type { Signal } from "../turn/Signal.ts"

/** What goes into an entry; small, serialisable, without keys. */
export type JournalData = Readonly<Record<string, unknown>>

/** Times (`at`) are in milliseconds since the call began; notes and faults take the present. */
export interface Journal {
  readonly signal: (at: number, signal: Signal) => void
  readonly move: (at: number, move: Move) => void
  /** Something that happened inside a step of the call. */
  readonly note: (name: string, data: JournalData) => void
  /** A failure that the call survives, or ends by. */
  readonly fault: (name: string, data: JournalData) => void
}

/** Where entries go. */
export interface JournalOptions {
  readonly remember: (fact: Fact) => void
  /** Milliseconds since the call began. */
  readonly now: () => number
  /** Told the name of each fault after it was written. */
  readonly onFault: (name: string) => void
}

/** Times are rounded to a tenth of a millisecond. */
export const make = ({ now, onFault, remember }: JournalOptions): Journal => {
  const write = (kind: "signal" | "move" | "note" | "fault", at: number, name: string, data: JournalData): void =>
    remember({ _tag: "Journaled", entry: { at_ms: Math.round(at * 10) / 10, kind, name, data } })
  return {
    signal: (at, { _tag, ...data }) => write("signal", at, _tag, data),
    move: (at, { _tag, ...data }) => write("move", at, _tag, data),
    note: (name, data) => write("note", now(), name, data),
    fault: (name, data) => {
      write("fault", now(), name, data)
      onFault(name)
    }
  }
}
