// The words of one answer: our own, or the model's, with its tools in between. Where the words go, into sound or onto a
// page, is up to the caller of these functions.
import { Effect } from "effect"
import type { ChatError, ChatMessage, ChatModel, ChatToolCall, ToolSpec } from "@parley/llm/ChatModel"
import type { CallPlan } from "../CallPlan.ts"
import type { JournalData } from "../journal/Journal.ts"
import { type MemoryEntry, toMessages } from "../transcript/Memory.ts"
import * as LlmStream from "./LlmStream.ts"
import { PhraseCutter } from "./PhraseCutter.ts"
import { placed } from "./Recall.ts"
import type { Phrase } from "./TtsStream.ts"
import { instructions } from "../transcript/instructions.ts"

/** Rounds of model and tools in one reply. */
const maxRounds = 8
const hangUpTool = "hang_up_call"

/** What a reply is to say: a text of ours, or the model's answer. */
export type ReplyText =
  | { readonly kind: "say"; readonly text: string }
  /** `history` is what the model is told before this reply's own words. */
  | {
      readonly kind: "answer"
      readonly history: () => ReadonlyArray<ChatMessage>
      /** Told to the model before the caller's last words, in this reply only. Waited for. */
      readonly recalled?: Effect.Effect<ReadonlyArray<ChatMessage>>
    }

/** The tools of a call as a reply uses them. */
export interface ToolExecutor {
  /** Answers through `onAnswer`, also when the reply is gone; done when it has answered. */
  readonly call: (call: ChatToolCall, turnId: string, onAnswer: (text: string) => void) => Effect.Effect<void>
  /** A tool that the engine carried out by itself. */
  readonly used: (call: ChatToolCall, turnId: string, output: string) => void
}

/** Where an answer is written to. */
export interface Draft {
  /** The reply's part of the memory; grows as words come. */
  readonly entries: Array<MemoryEntry>
  /** Called with each piece of text; the first call counts. */
  readonly onWord: () => void
  /** A phrase, ready to be spoken. */
  readonly offer: (phrase: Phrase) => Effect.Effect<void>
  /** Done when tools may run: at once, except in a speculative reply. */
  readonly committed: Effect.Effect<void>
}

/** Who writes the answer, and for which turn. */
export interface Writing {
  readonly plan: CallPlan
  readonly turnId: string
  readonly chat: ChatModel
  readonly tools: ToolExecutor
  readonly newSegment: () => string
  readonly draft: Draft
  /** The model has decided to hang up after this answer. */
  readonly onHangUp: () => void
  readonly onFault: (name: string, data: JournalData) => void
}

/** How the agent begins. */
export const openingOf = (prompt: CallPlan["prompt"]): ReplyText => {
  const { firstMessage } = prompt
  if (firstMessage.mode === "fixed") return { kind: "say", text: firstMessage.text }
  const instruction = firstMessage.mode === "prompt" ? firstMessage.instruction : ""
  return {
    kind: "answer",
    history: () => [...instructions(prompt), { role: "user", content: `[The call has just begun. ${instruction}]` }]
  }
}

/** Words of our own: no model is asked. */
export const recite = Effect.fnUntraced(function* (write: Writing, text: string): Effect.fn.Return<void, ChatError> {
  const { draft } = write
  const segment = write.newSegment()
  draft.onWord()
  draft.entries.push({ kind: "agent", segment, text, heard: null, toolCalls: [] })
  const cutter = new PhraseCutter()
  for (const phrase of cutter.push(text)) yield* draft.offer({ segment, text: phrase })
  yield* draft.offer({ segment, text: cutter.finish() })
})

/** Model and tools in turn, until the model has nothing more to call. */
export const answer = Effect.fnUntraced(function* (
  write: Writing,
  { history, recalled }: Extract<ReplyText, { kind: "answer" }>
): Effect.fn.Return<void, ChatError> {
  const { draft } = write
  const tools = toolSpecs(write.plan)
  const found = recalled === undefined ? [] : yield* recalled
  for (let rounds = 1; rounds <= maxRounds; rounds++) {
    const segment = write.newSegment()
    const entry: MemoryEntry & { kind: "agent" } = { kind: "agent", segment, text: "", heard: null, toolCalls: [] }
    const cutter = new PhraseCutter()
    const messages = [...placed(history(), found), ...toMessages(draft.entries)]
    draft.entries.push(entry)
    const done = yield* LlmStream.round(write.chat, { messages, tools, extra: write.plan.llmExtra }, (text) => {
      draft.onWord()
      entry.text += text
      return Effect.forEach(cutter.push(text), (phrase) => draft.offer({ segment, text: phrase }), { discard: true })
    })
    yield* draft.offer({ segment, text: cutter.finish() })
    if (done.broken !== null) write.onFault("llm_broke_off", { reason: done.broken.reason })
    if (done.toolCalls.length === 0) return
    // A speculative reply runs no tool.
    yield* draft.committed
    if (yield* useTools(write, entry, done.toolCalls)) return
  }
  write.onFault("too_many_rounds", { rounds: maxRounds })
})

/** True when the reply is over with these calls: the agent hangs up after what it has said. */
const useTools = Effect.fnUntraced(function* (
  write: Writing,
  entry: MemoryEntry & { kind: "agent" },
  calls: ReadonlyArray<ChatToolCall>
) {
  let over = false
  for (const call of calls) {
    const result: MemoryEntry & { kind: "tool" } = { kind: "tool", callId: call.id, content: null }
    entry.toolCalls.push(call)
    write.draft.entries.push(result)
    if (call.name === hangUpTool && write.plan.hangUpTool) {
      write.onHangUp()
      write.tools.used(call, write.turnId, "The call ends with this answer.")
      result.content = "The call ends when you have said goodbye. Do not call this again."
      over ||= entry.text.trim() !== ""
    } else yield* write.tools.call(call, write.turnId, (text) => void (result.content = text))
  }
  return over
})

/** As every request of this call has them. */
export const toolSpecs = (plan: CallPlan): ReadonlyArray<ToolSpec> => [
  ...plan.tools.map((tool) => tool.spec),
  ...(plan.hangUpTool ? [hangUpSpec] : [])
]

const hangUpSpec: ToolSpec = {
  name: hangUpTool,
  description:
    "End the call. Say goodbye in the same answer. Use it when the caller says goodbye or has nothing more to ask.",
  parameters: { type: "object", properties: {}, additionalProperties: false }
}
