// One answer: the model's words become phrases, the phrases sound, all in one scope whose closing takes
// back everything that was not heard. A speculative reply runs the same way, but holds its tools and its
// sound until it is committed.
import { type Cause, Deferred, Effect, Exit, Latch, Queue, Scope } from "effect"
import type { ChatError, ChatMessage, ChatModel, ChatToolCall, ToolSpec } from "@parley/llm/ChatModel"
import type { SpeechError } from "@parley/speech/ports/SpeechError"
import type { Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { CallPlan } from "../CallPlan.ts"
import { type MemoryEntry, toMessages } from "../Memory.ts"
import { Playout } from "../media/Playout.ts"
import type { Signal } from "../turn/Signal.ts"
import * as LlmStream from "./LlmStream.ts"
import { PhraseCutter } from "./PhraseCutter.ts"
import { placed } from "./Recall.ts"
import type { ReplySound } from "./ReplySound.ts"
import { SpokenText } from "./SpokenText.ts"
import * as TtsStream from "./TtsStream.ts"

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

export interface ReplyOptions {
  readonly id: number
  readonly plan: CallPlan
  readonly text: ReplyText
  readonly silent: boolean
  readonly speculative: boolean
  readonly turnId: string
  readonly playRate: number
  readonly chat: ChatModel
  readonly synthesizer: Synthesizer
  readonly runTool: (call: ChatToolCall, turnId: string, onAnswer: (text: string) => void) => Effect.Effect<void>
  readonly now: () => number
  readonly newSegment: () => string
  readonly tell: (signal: Signal) => void
  readonly onDelta: (segment: string, delta: string) => void
  readonly onFault: (name: string, data: Record<string, unknown>) => void
  /** A defect inside: the call is lost, its neighbours are not. */
  readonly onDefect: (cause: Cause.Cause<never>) => void
}

/** Moments of a reply, milliseconds since the call began; null until they come. */
export interface ReplyMarks {
  firstWord: number | null
  firstPhrase: number | null
  firstAudio: number | null
}

export interface Reply {
  readonly id: number
  readonly turnId: string
  readonly speculative: boolean
  readonly sound: ReplySound
  readonly marks: ReplyMarks
  /** This reply's own part of the memory, growing. */
  readonly entries: ReadonlyArray<MemoryEntry>
  readonly commit: () => void
  /** Cuts the entries to what was heard. Call once, when no more will be. */
  readonly settleHeard: () => ReadonlyArray<{ readonly segment: string; readonly text: string }>
  readonly close: Effect.Effect<void>
}

/** Starts the reply in a scope of its own below `parent`. */
export const begin = Effect.fnUntraced(function* (parent: Scope.Scope, options: ReplyOptions) {
  const scope = yield* Scope.fork(parent)
  const room = yield* Latch.make(true)
  const committed = yield* Deferred.make<void>()
  const phrases = yield* Queue.bounded<TtsStream.Phrase, Cause.Done>(64)
  const playout = new Playout(options.playRate, () => room.openUnsafe())
  const spoken = new SpokenText(options.playRate, options.onDelta)
  const marks: ReplyMarks = { firstWord: null, firstPhrase: null, firstAudio: null }
  const entries: Array<MemoryEntry> = []
  const { id, plan, silent } = options
  if (!options.speculative) Deferred.doneUnsafe(committed, Effect.void)

  const offer = (phrase: TtsStream.Phrase): Effect.Effect<void> => {
    if (phrase.text.trim() !== "") marks.firstPhrase ??= options.now()
    return Effect.asVoid(Queue.offer(phrases, phrase))
  }
  const write = { ...options, entries, marks, offer, committed: Deferred.await(committed) }
  const words = (options.text.kind === "say" ? recite(write, options.text.text) : answer(write, options.text)).pipe(
    Effect.matchEffect({
      onSuccess: () => Queue.end(phrases),
      onFailure: (error) => {
        options.onFault("llm_failed", { reason: error.reason, provider: error.provider })
        return Effect.sync(() => options.tell({ _tag: "ReplyFailed", reply: id }))
      }
    })
  )
  const sound = TtsStream.speak(phrases, {
    synthesizer: options.synthesizer,
    voice: plan.voice.id,
    character: plan.voice.character,
    speed: plan.voice.speed,
    language: plan.voice.language,
    playout,
    spoken,
    room,
    silent,
    onFirstAudio: () => void (marks.firstAudio ??= options.now()),
    onFault: (error: SpeechError) => options.onFault("tts_failed", { reason: error.reason, provider: error.provider })
  })
  const guarded = <E>(effect: Effect.Effect<unknown, E>) =>
    Effect.forkIn(
      Effect.onExit(effect, (exit) =>
        Effect.sync(() => {
          if (Exit.isFailure(exit) && exit.cause.reasons.some((reason) => reason._tag === "Die")) {
            options.onDefect(exit.cause as Cause.Cause<never>)
          }
        })
      ),
      scope
    )
  yield* guarded(words)
  yield* guarded(sound)

  const reply: Reply = {
    id,
    turnId: options.turnId,
    speculative: options.speculative,
    sound: { id, playout, spoken, silent },
    marks,
    entries,
    commit: () => Deferred.doneUnsafe(committed, Effect.void),
    settleHeard: () => {
      const heard = spoken.heard()
      for (const entry of entries) {
        if (entry.kind === "agent") entry.heard = heard.find((part) => part.segment === entry.segment)?.text ?? ""
      }
      return heard.filter((part) => part.text !== "")
    },
    close: Scope.close(scope, Exit.void)
  }
  return reply
})

interface Writing extends ReplyOptions {
  readonly entries: Array<MemoryEntry>
  readonly marks: ReplyMarks
  readonly offer: (phrase: TtsStream.Phrase) => Effect.Effect<void>
  readonly committed: Effect.Effect<void>
}

/** Words of our own: no model is asked. */
const recite = Effect.fnUntraced(function* (write: Writing, text: string): Effect.fn.Return<void, ChatError> {
  const segment = write.newSegment()
  write.marks.firstWord ??= write.now()
  write.entries.push({ kind: "agent", segment, text, heard: null, toolCalls: [] })
  const cutter = new PhraseCutter()
  for (const phrase of cutter.push(text)) yield* write.offer({ segment, text: phrase })
  yield* write.offer({ segment, text: cutter.finish() })
})

/** Model and tools in turn, until the model has nothing more to call. */
const answer = Effect.fnUntraced(function* (
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
