// The words of one answer: our own, or the model's, with its tools in between. Where the words go, into sound or onto a
// page, is the affair of who asks.
import { Effect } from "effect"
import type { ChatError, ChatMessage, ChatModel, ChatToolCall, ToolSpec } from "@parley/llm/ChatModel"
import type { CallPlan } from "../CallPlan.ts"
import { type MemoryEntry, toMessages } from "../Memory.ts"
import type { Signal } from "../turn/Signal.ts"
import * as LlmStream from "./LlmStream.ts"
import { PhraseCutter } from "./PhraseCutter.ts"
import { placed } from "./Recall.ts"
import type { Phrase } from "./TtsStream.ts"

/** Rounds of model and tools in one reply. */
const maxRounds = 8
export const hangUpTool = "hang_up_call"

export type ReplyText =
  | { readonly kind: "say"; readonly text: string }
  /** `history` is what the model is told before this reply's own words. */
  | {
      readonly kind: "answer"
      readonly history: () => ReadonlyArray<ChatMessage>
      /** Told to the model before the caller's last words, in this reply only. Waited for. */
      readonly recalled?: Effect.Effect<ReadonlyArray<ChatMessage>>
    }

/** Moments of a reply, milliseconds since the call began; null until they come. */
export interface ReplyMarks {
  firstWord: number | null
  firstPhrase: number | null
  firstAudio: number | null
}

/** Who has the answer written. */
export interface Writing {
  readonly id: number
  readonly plan: CallPlan
  readonly turnId: string
  readonly chat: ChatModel
  readonly runTool: (call: ChatToolCall, turnId: string, onAnswer: (text: string) => void) => Effect.Effect<void>
  /** A tool of the call's own was used. */
  readonly onOwnTool: (call: ChatToolCall, turnId: string, output: string) => void
  readonly now: () => number
  readonly newSegment: () => string
  readonly tell: (signal: Signal) => void
  readonly onFault: (name: string, data: Record<string, unknown>) => void
  readonly entries: Array<MemoryEntry>
  readonly marks: Pick<ReplyMarks, "firstWord">
  readonly offer: (phrase: Phrase) => Effect.Effect<void>
  readonly committed: Effect.Effect<void>
}

/** How the agent begins. */
export const openingOf = ({ firstMessage, system }: CallPlan["prompt"]): ReplyText => {
  if (firstMessage.mode === "fixed") return { kind: "say", text: firstMessage.text }
  const instruction = firstMessage.mode === "prompt" ? firstMessage.instruction : ""
  return {
    kind: "answer",
    history: () => [
      { role: "system", content: system },
      { role: "user", content: `[The call has just begun. ${instruction}]` }
    ]
  }
}

/** Words of our own: no model is asked. */
export const recite = Effect.fnUntraced(function* (write: Writing, text: string): Effect.fn.Return<void, ChatError> {
  const segment = write.newSegment()
  write.marks.firstWord ??= write.now()
  write.entries.push({ kind: "agent", segment, text, heard: null, toolCalls: [] })
  const cutter = new PhraseCutter()
  for (const phrase of cutter.push(text)) yield* write.offer({ segment, text: phrase })
  yield* write.offer({ segment, text: cutter.finish() })
})

/** Model and tools in turn, until the model has nothing more to call. */
export const answer = Effect.fnUntraced(function* (
  write: Writing,
  { history, recalled }: Extract<ReplyText, { kind: "answer" }>
): Effect.fn.Return<void, ChatError> {
  const tools = toolSpecs(write.plan)
  const found = recalled === undefined ? [] : yield* recalled
  for (let rounds = 1; rounds <= maxRounds; rounds++) {
    const segment = write.newSegment()
    const entry: MemoryEntry & { kind: "agent" } = { kind: "agent", segment, text: "", heard: null, toolCalls: [] }
    const cutter = new PhraseCutter()
    const messages = [...placed(history(), found), ...toMessages(write.entries)]
    write.entries.push(entry)
    const done = yield* LlmStream.round(write.chat, { messages, tools, extra: write.plan.llmExtra }, (text) => {
      write.marks.firstWord ??= write.now()
      entry.text += text
      return Effect.forEach(cutter.push(text), (phrase) => write.offer({ segment, text: phrase }), { discard: true })
    })
    yield* write.offer({ segment, text: cutter.finish() })
    if (done.broken !== null) write.onFault("llm_broke_off", { reason: done.broken.reason })
    if (done.toolCalls.length === 0) return
    // Nothing with an effect happens on a guess.
    yield* write.committed
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
    write.entries.push(result)
    if (call.name === hangUpTool && write.plan.hangUpTool) {
      write.tell({ _tag: "HangUpDecided", reply: write.id })
      write.onOwnTool(call, write.turnId, "The call ends with this answer.")
      result.content = "The call ends when you have said goodbye. Do not call this again."
      over ||= entry.text.trim() !== ""
    } else yield* write.runTool(call, write.turnId, (text) => void (result.content = text))
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
