// What the model is told was said. The caller's turns as they stand, the agent's replies only as far as
// they were heard, tool calls always together with an answer.
import type { ChatMessage, ChatToolCall } from "@parley/llm/ChatModel"

/** One thing the model is told, in the order it happened. */
export type MemoryEntry =
  | { readonly kind: "caller"; readonly turn: string; text: string }
  /** `text` is what was written; `heard`, once known, replaces it. */
  | {
      readonly kind: "agent"
      readonly segment: string
      text: string
      heard: string | null
      toolCalls: Array<ChatToolCall>
    }
  | { readonly kind: "tool"; readonly callId: string; content: string | null }
  | { readonly kind: "note"; readonly text: string }

/** The conversation as the model knows it. */
export class Memory {
  private readonly entries: Array<MemoryEntry | ReadonlyArray<MemoryEntry>> = []

  /** The same turn again replaces what it said before. */
  caller(turn: string, text: string): void {
    const known = this.entries.flat().find((entry) => entry.kind === "caller" && entry.turn === turn)
    if (known?.kind === "caller") known.text = text
    else this.entries.push({ kind: "caller", turn, text })
  }

  note(text: string): void {
    this.entries.push({ kind: "note", text })
  }

  /** Takes a reply in by reference: it may still be growing. */
  adopt(reply: ReadonlyArray<MemoryEntry>): void {
    this.entries.push(reply)
  }

  /** `except` leaves out a turn that is about to be told anew. */
  messages(except?: string): Array<ChatMessage> {
    return toMessages(this.entries.flat().filter((entry) => entry.kind !== "caller" || entry.turn !== except))
  }
}

/** Entries as chat messages; an agent's turn without words or tool calls is left out. */
export const toMessages = (entries: ReadonlyArray<MemoryEntry>): Array<ChatMessage> =>
  entries.flatMap((entry): ReadonlyArray<ChatMessage> => {
    switch (entry.kind) {
      case "caller":
        return [{ role: "user", content: entry.text }]
      case "note":
        return [{ role: "user", content: entry.text }]
      case "tool":
        return [{ role: "tool", callId: entry.callId, content: entry.content ?? "The call is still running." }]
      case "agent": {
        const content = entry.heard ?? entry.text
        if (entry.toolCalls.length > 0) return [{ role: "assistant", content, toolCalls: entry.toolCalls }]
        return content === "" ? [] : [{ role: "assistant", content }]
      }
    }
  })
