// One answer: the model's words become phrases, the phrases sound, all in one scope whose closing takes
// back everything that was not heard. A speculative reply runs the same way, but holds its tools and its
// sound until it is committed.
import { type Cause, Deferred, Effect, Exit, Latch, Queue, Scope } from "effect"
import type { ChatModel } from "@parley/llm/ChatModel"
import type { Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { CallContext } from "../CallContext.ts"
import type { ReplyMarks } from "../journal/TurnLatency.ts"
import { Playout } from "../playout/Playout.ts"
import type { ReplySound } from "../playout/ReplySound.ts"
import { SpokenText } from "../playout/SpokenText.ts"
import { cannotFail, forkSupervised } from "../supervise.ts"
import type { MemoryEntry } from "../transcript/Memory.ts"
import { answer, recite, type ReplyText, type ToolExecutor, type Writing } from "./Answer.ts"
import * as TtsStream from "./TtsStream.ts"

/** Which reply is wanted. */
export interface ReplyRequest {
  readonly id: number
  readonly turnId: string
  readonly text: ReplyText
  /** Told in text only. */
  readonly silent: boolean
  /** Held until `commit`. */
  readonly speculative: boolean
}

/** What one reply is made with. */
export interface ReplyOptions {
  readonly call: CallContext
  readonly request: ReplyRequest
  readonly chat: ChatModel
  readonly synthesizer: Synthesizer
  /** Samples per second of the leg. */
  readonly playRate: number
  readonly tools: ToolExecutor
  readonly newSegment: () => string
  /** Words that were just heard; on the media thread. */
  readonly onDelta: (segment: string, delta: string) => void
}

/** One reply under way, until it is closed. */
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
  /** Everything written so far has been heard, or the reply was closed. */
  readonly said: Effect.Effect<void>
  readonly close: Effect.Effect<void>
}

/** Starts the reply in a scope of its own below the call's. */
export const begin = Effect.fnUntraced(function* (options: ReplyOptions): Effect.fn.Return<Reply> {
  const { call, playRate, request } = options
  const { id, silent } = request
  const scope = yield* Scope.fork(call.scope)
  const room = yield* Latch.make(true)
  const committed = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<void>()
  const phrases = yield* Queue.bounded<TtsStream.Phrase, Cause.Done>(64)
  const playout = new Playout(playRate, () => room.openUnsafe())
  const spoken = new SpokenText(playRate, options.onDelta)
  const marks: ReplyMarks = { firstWord: null, firstPhrase: null, firstAudio: null }
  const entries: Array<MemoryEntry> = []
  if (!request.speculative) Deferred.doneUnsafe(committed, Effect.void)

  const draft = {
    entries,
    onWord: () => void (marks.firstWord ??= call.clock.now()),
    offer: (phrase: TtsStream.Phrase) => {
      if (phrase.text.trim() !== "") marks.firstPhrase ??= call.clock.now()
      playout.phraseBegun()
      return Effect.asVoid(Queue.offer(phrases, phrase))
    },
    committed: Deferred.await(committed)
  }
  yield* forkSupervised(scope, Effect.andThen(write(options, draft), Queue.end(phrases)), {
    child: "LlmStream",
    onFailure: ({ provider, reason }) => {
      call.journal.fault("llm_failed", { reason, provider })
      call.tell({ _tag: "ReplyFailed", reply: id })
    },
    onDefect: call.onDefect
  })
  const sound = TtsStream.speak(phrases, {
    synthesizer: options.synthesizer,
    voice: call.plan.voice,
    playout,
    spoken,
    room,
    silent,
    onFirstAudio: () => void (marks.firstAudio ??= call.clock.now()),
    onFault: ({ provider, reason }) => call.journal.fault("tts_failed", { reason, provider })
  })
  yield* forkSupervised(scope, sound, { child: "TtsStream", onFailure: cannotFail, onDefect: call.onDefect })

  return {
    id,
    turnId: request.turnId,
    speculative: request.speculative,
    sound: { id, playout, spoken, silent },
    marks,
    entries,
    commit: () => void Deferred.doneUnsafe(committed, Effect.void),
    settleHeard: () => settleHeard(entries, spoken),
    said: Effect.raceFirst(
      Effect.callback<void>((resume) => playout.whenSaid(() => resume(Effect.void))),
      Deferred.await(closed)
    ),
    close: Effect.andThen(Deferred.succeed(closed, undefined), Scope.close(scope, Exit.void))
  }
})

const write = ({ call, chat, newSegment, request, tools }: ReplyOptions, draft: Writing["draft"]) => {
  const writing: Writing = {
    plan: call.plan,
    turnId: request.turnId,
    chat,
    tools,
    newSegment,
    draft,
    onHangUp: () => call.tell({ _tag: "HangUpDecided", reply: request.id }),
    onFault: call.journal.fault
  }
  return request.text.kind === "say" ? recite(writing, request.text.text) : answer(writing, request.text)
}

const settleHeard = (entries: ReadonlyArray<MemoryEntry>, spoken: SpokenText) => {
  const heard = spoken.heard()
  for (const entry of entries) {
    if (entry.kind === "agent") entry.heard = heard.find((part) => part.segment === entry.segment)?.text ?? ""
  }
  return heard.filter((part) => part.text !== "")
}
