// What was said in a call: the record that is told as facts, and the memory that the model is given. Both hold the
// caller's turns as they stand and the agent's replies only as far as they were heard.
import type { Fact } from "@parley/contract/Fact"
import type { ChatMessage } from "@parley/llm/ChatModel"
import { Memory, type MemoryEntry } from "./Memory.ts"

/** `sessionId` goes into the ids of messages. */
export interface TranscriptOptions {
  readonly sessionId: string
  readonly remember: (fact: Fact) => void
  /** Wall clock, ISO 8601. */
  readonly iso: () => string
}

/** One stretch of an agent's reply, as far as it was heard. */
export interface AgentSegment {
  readonly segment: string
  readonly text: string
  readonly turnId: string
  /** When it began to be heard, ISO 8601; left out: now. */
  readonly since?: string
}

/** Both sides of what was said. Nothing here waits. */
export interface Transcript {
  /** The caller's turn, whole; the same turn again replaces what it said before. */
  readonly caller: (turn: string, text: string) => void
  /** Recorded only: the memory has it from `adopt`. */
  readonly agent: (segment: AgentSegment) => void
  /** A sentence that was spoken to the caller outside of any reply. */
  readonly line: (text: string) => void
  /** For the model only, as a system message. */
  readonly note: (text: string) => void
  /** A reply's own part of the memory, by reference: it may still be growing. */
  readonly adopt: (entries: ReadonlyArray<MemoryEntry>) => void
  /** The conversation so far, oldest first; `except` leaves out a turn that is about to be told anew. */
  readonly messages: (except?: string) => ReadonlyArray<ChatMessage>
  /** The id of the next message of the agent. */
  readonly newSegment: () => string
}

/** Empty; message ids are `msg_<session>_<n>` for the agent and `msg_<session>_<turn>` for the caller. */
export const make = ({ iso, remember, sessionId }: TranscriptOptions): Transcript => {
  const memory = new Memory()
  let segments = 0
  const newSegment = (): string => `msg_${sessionId}_${++segments}`
  const record = (role: "user" | "assistant", id: string, content: string, turnId: string, since: string): void =>
    remember({
      _tag: "ItemRecorded",
      item: { type: "message", id, role, content, turn_id: turnId, created_at: since }
    })
  return {
    caller: (turn, text) => {
      memory.caller(turn, text)
      record("user", `msg_${sessionId}_${turn}`, text, turn, iso())
    },
    agent: ({ segment, since, text, turnId }) => record("assistant", segment, text, turnId, since ?? iso()),
    line: (text) => {
      const id = newSegment()
      memory.note(`[You said to the caller: ${text}]`)
      record("assistant", id, text, id, iso())
    },
    note: (text) => memory.note(text),
    adopt: (entries) => memory.adopt(entries),
    messages: (except) => memory.messages(except),
    newSegment
  }
}
