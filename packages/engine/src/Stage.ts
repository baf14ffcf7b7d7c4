// Carries out what the floor decides: begins and closes replies, plays them, remembers what was said and
// tells the client. Owns the one committed and the one speculative reply of a call.
import type { Cause } from "effect"
import { Effect, type Scope } from "effect"
import type { EndReason } from "@parley/contract/EndReason"
import type { Fact } from "@parley/contract/Fact"
import type { ChatMessage } from "@parley/llm/ChatModel"
import type { CallPlan } from "./CallPlan.ts"
import * as Ledger from "./journal/TurnLatency.ts"
import { lineIn } from "./Lines.ts"
import { Memory } from "./Memory.ts"
import { Player } from "./playout/Player.ts"
import type { CallParts } from "./ports/CallParts.ts"
import type { Leg } from "./leg/Leg.ts"
import { openingOf, type ReplyText } from "./reply/Answer.ts"
import * as Recall from "./reply/Recall.ts"
import * as Reply from "./reply/Reply.ts"
import * as ToolRunner from "./tools/ToolRunner.ts"
import type { Move, ReplyCause, TurnClocks } from "./turn/Move.ts"
import type { Signal } from "./turn/Signal.ts"

const saidLookMs = 40
const saidBoundMs = 15_000

export interface StageOptions {
  readonly plan: CallPlan
  readonly parts: CallParts["Service"]
  readonly leg: Leg
  readonly scope: Scope.Scope
  /** For what is told to go on by itself when the call is over. */
  readonly outliving: Scope.Scope
  readonly now: () => number
  readonly isoNow: () => string
  readonly remember: (fact: Fact) => void
  readonly tell: (signal: Signal) => void
  readonly onNote: (name: string, data: Record<string, unknown>) => void
  readonly onFault: (name: string, data: Record<string, unknown>) => void
  readonly onDefect: (cause: Cause.Cause<never>) => void
}

export interface Stage {
  readonly player: Player
  readonly tools: ToolRunner.ToolRunner
  readonly perform: (move: Move) => Effect.Effect<void>
  /** What the reply out now has written so far was heard, or 15 s have passed. */
  readonly said: Effect.Effect<void>
  /** The conversation so far. */
  readonly history: () => ReadonlyArray<ChatMessage>
  /** A sentence that was spoken around the replies becomes part of the record. */
  readonly recordLine: (text: string) => void
  /** Settles what was heard and says goodbye to the leg; once. */
  readonly finish: (reason: EndReason) => Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* (options: StageOptions): Effect.fn.Return<Stage> {
  const { isoNow, leg, now, onFault, onNote, outliving, parts, plan, remember, scope, tell } = options
  const memory = new Memory()
  const chat = parts.chat(plan.llm)
  const recall = Recall.make({ plan, retrieve: parts.retrieve, scope, now, onNote, onFault })
  let current: Reply.Reply | null = null
  /** Heard to its end, its scope still to be closed. */
  let finished: Reply.Reply | null = null
  let guess: Reply.Reply | null = null
  let heardSince = ""
  let lastTurn: { readonly turn: string; readonly clocks: TurnClocks } | null = null
  const shownSegments = new Set<string>()
  let segments = 0

  const player = new Player(leg, {
    onStarted: (id) => {
      heardSince = isoNow()
      if (current !== null && lastTurn !== null && current.turnId === lastTurn.turn) {
        const latency = Ledger.measure(lastTurn.turn, lastTurn.clocks, current.marks, now(), current.speculative)
        lastTurn = null
        remember({ _tag: "TurnMeasured", latency })
        leg.tell({ _tag: "Event", event: { type: "turn.latency", latency } })
      }
      tell({ _tag: "ReplyStarted", reply: id })
    },
    onEnded: (id) => {
      if (current?.id === id) {
        retire(current)
        finished = current
        current = null
      }
      tell({ _tag: "ReplyEnded", reply: id })
    },
    onStarved: (id) => onFault("playout_starved", { reply: id })
  })

  const tools = yield* ToolRunner.make({
    plan,
    scope,
    outliving,
    run: parts.runTool,
    now,
    isoNow,
    remember,
    emit: (event) => leg.tell({ _tag: "Event", event }),
    onNews: (text) => {
      memory.note(text)
      tell({ _tag: "NewsArrived" })
    }
  })

  /** What was heard of a reply becomes its record; its segments close for the client. */
  const retire = (reply: Reply.Reply): void => {
    for (const { segment, text } of reply.settleHeard()) {
      remember({
        _tag: "ItemRecorded",
        item: {
          type: "message",
          id: segment,
          role: "assistant",
          content: text,
          turn_id: reply.turnId,
          created_at: heardSince
        }
      })
      if (shownSegments.delete(segment)) leg.tell({ _tag: "AgentDone", segmentId: segment })
    }
  }

  const onDelta = (segmentId: string, delta: string): void => {
    shownSegments.add(segmentId)
    leg.tell({ _tag: "AgentDelta", segmentId, delta })
  }

  const textFor = (cause: ReplyCause, speculative: boolean): ReplyText => {
    const system = { role: "system", content: plan.prompt.system } as const
    switch (cause.kind) {
      case "line":
        return { kind: "say", text: lineIn(plan.voice.language, cause.line) }
      case "opening":
        return openingOf(plan.prompt)
      case "turn": {
        // A guess is made before its turn is recorded.
        const asked = { role: "user", content: cause.text } as const
        const before = speculative ? memory.messages(cause.turn) : memory.messages()
        return {
          kind: "answer",
          history: () => (speculative ? [system, ...before, asked] : [system, ...before]),
          recalled: recall(cause.text)
        }
      }
      case "voicemail": {
        const { voicemail } = plan.conversation
        if (voicemail?.action !== "leave_prompt_message") return { kind: "say", text: voicemail?.message ?? "" }
        const told = `[An answering machine took the call. Leave one message after its beep; nobody will answer. ${voicemail.message}]`
        return { kind: "answer", history: () => [system, ...memory.messages(), { role: "user", content: told }] }
      }
      case "news": {
        const before = memory.messages()
        return { kind: "answer", history: () => [system, ...before] }
      }
    }
  }

  const begin = Effect.fnUntraced(function* (move: Extract<Move, { _tag: "BeginReply" }>) {
    const { cause, reply: id, speculative } = move
    const reply = yield* Reply.begin(scope, {
      id,
      plan,
      text: textFor(cause, speculative),
      silent: cause.kind === "turn" && !cause.spoken,
      speculative,
      turnId: cause.kind === "turn" ? cause.turn : `${cause.kind}_${id}`,
      playRate: leg.playRate,
      chat,
      synthesizer: parts.synthesizer,
      runTool: tools.call,
      onOwnTool: tools.used,
      now,
      newSegment: () => `msg_${plan.sessionId}_${++segments}`,
      tell,
      onDelta,
      onFault,
      onDefect: options.onDefect
    })
    if (speculative) guess = reply
    else take(reply)
  })

  const take = (reply: Reply.Reply): void => {
    current = reply
    memory.adopt(reply.entries)
    reply.commit()
    player.play(reply.sound)
  }

  /** No reply is out afterwards; what was heard of the last one is settled. */
  const closeReply = Effect.suspend(() => {
    if (current !== null) {
      player.stop()
      retire(current)
    }
    const reply = current ?? finished
    current = null
    finished = null
    return reply === null ? Effect.void : reply.close
  })

  const discardGuess = Effect.suspend(() => {
    const reply = guess
    guess = null
    return reply === null ? Effect.void : reply.close
  })

  const perform = (move: Move): Effect.Effect<void> => {
    switch (move._tag) {
      case "BeginReply":
        return move.speculative ? begin(move) : Effect.andThen(closeReply, begin(move))
      case "CommitReply":
        return Effect.andThen(
          closeReply,
          Effect.sync(() => {
            if (guess?.id === move.reply) take(guess)
            guess = null
          })
        )
      case "DiscardReply":
        return discardGuess
      case "Hush":
        return closeReply
      case "YieldFloor":
        return Effect.sync(() => player.pause())
      case "ResumeReply":
        return Effect.sync(() => player.resume())
      case "RecordTurn":
        return Effect.sync(() => recordTurn(move))
      case "ShowCaller":
        return Effect.sync(() =>
          leg.tell({ _tag: "UserTranscript", segmentId: move.turn, text: move.text, final: move.final })
        )
      case "ShowState":
        return Effect.sync(() => leg.tell({ _tag: "State", state: move.state }))
      case "End":
        return Effect.void
    }
  }

  const recordTurn = ({ clocks, text, turn }: Extract<Move, { _tag: "RecordTurn" }>): void => {
    memory.caller(turn, text)
    lastTurn = { turn, clocks }
    remember({
      _tag: "ItemRecorded",
      item: {
        type: "message",
        id: `msg_${plan.sessionId}_${turn}`,
        role: "user",
        content: text,
        turn_id: turn,
        created_at: isoNow()
      }
    })
  }

  const finish = (reason: EndReason): Effect.Effect<void> =>
    closeReply.pipe(
      Effect.andThen(discardGuess),
      Effect.andThen(tools.cancel),
      Effect.andThen(
        Effect.sync(() => {
          remember({ _tag: "CallEnded", reason, at: isoNow() })
          leg.tell({ _tag: "Event", event: { type: "session.ended", reason } })
          leg.close(reason)
        })
      )
    )

  const said = Effect.repeat(Effect.sleep(saidLookMs), { until: () => current?.sound.playout.said ?? true }).pipe(
    Effect.timeoutOption(saidBoundMs),
    Effect.asVoid
  )

  const recordLine = (text: string): void => {
    const id = `msg_${plan.sessionId}_${++segments}`
    memory.note(`[You said to the caller: ${text}]`)
    remember({
      _tag: "ItemRecorded",
      item: { type: "message", id, role: "assistant", content: text, turn_id: id, created_at: isoNow() }
    })
  }

  leg.tell({ _tag: "State", state: "initializing" })
  return { player, tools, perform, said, history: () => memory.messages(), recordLine, finish }
})
