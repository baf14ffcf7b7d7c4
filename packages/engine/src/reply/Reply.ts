// One answer: the model's words become phrases, the phrases sound, all in one scope whose closing takes
// back everything that was not heard. A speculative reply runs the same way, but holds its tools and its
// sound until it is committed.
import { type Cause, Deferred, Effect, Exit, Latch, Queue, Scope } from "effect"
import type { ChatModel, ChatToolCall } from "@parley/llm/ChatModel"
import type { SpeechError } from "@parley/speech/ports/SpeechError"
import type { Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { CallPlan } from "../CallPlan.ts"
import type { MemoryEntry } from "../Memory.ts"
import { Playout } from "../playout/Playout.ts"
import type { Signal } from "../turn/Signal.ts"
import { answer, recite, type ReplyMarks, type ReplyText } from "./Answer.ts"
import type { ReplySound } from "./ReplySound.ts"
import { SpokenText } from "./SpokenText.ts"
import * as TtsStream from "./TtsStream.ts"

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
  /** A tool of the call's own was used. */
  readonly onOwnTool: (call: ChatToolCall, turnId: string, output: string) => void
  readonly now: () => number
  readonly newSegment: () => string
  readonly tell: (signal: Signal) => void
  readonly onDelta: (segment: string, delta: string) => void
  readonly onFault: (name: string, data: Record<string, unknown>) => void
  /** A defect inside: the call is lost, its neighbours are not. */
  readonly onDefect: (cause: Cause.Cause<never>) => void
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
    playout.awaited++
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
