// Owns the one committed and the one speculative reply of a call: begins, commits and closes them, plays the committed
// one, and settles what was heard of it. Each operation is one move of turn-taking.
import { Cause, Effect } from "effect"
import type { CallContext } from "../CallContext.ts"
import * as TurnLatency from "../journal/TurnLatency.ts"
import type { ClientFeed } from "../leg/ClientFeed.ts"
import type { Leg } from "../leg/Leg.ts"
import { Player } from "../playout/Player.ts"
import type { CallParts } from "../ports/CallParts.ts"
import type { Transcript } from "../transcript/Transcript.ts"
import type { Move, ReplyCause, TurnClocks } from "../turn/Move.ts"
import { openingOf, type ReplyText, type ToolExecutor } from "./Answer.ts"
import { lineIn } from "./lines.ts"
import * as Recall from "./Recall.ts"
import * as Reply from "./Reply.ts"

/** Longest wait for what was begun to be said. */
const saidBoundMs = 15_000

export interface ReplyControllerOptions {
  readonly call: CallContext
  readonly parts: Pick<CallParts["Service"], "chat" | "synthesizer" | "retrieve">
  readonly leg: Pick<Leg, "play" | "playRate">
  readonly feed: Pick<ClientFeed, "agent" | "agentDone" | "latency">
  readonly transcript: Transcript
  readonly tools: ToolExecutor
}

export interface ReplyController {
  /** To be ticked as long as the call lasts. */
  readonly player: Player
  readonly begin: (move: Extract<Move, { _tag: "BeginReply" }>) => Effect.Effect<void>
  /** The speculative reply of that id becomes the one that is played. */
  readonly commit: (reply: number) => Effect.Effect<void>
  readonly discard: Effect.Effect<void>
  /** No reply is out afterwards; what was heard of the last one is settled. */
  readonly stop: Effect.Effect<void>
  readonly pause: () => void
  readonly resume: () => void
  /** The turn that the next reply answers; its latency is measured when that reply is first heard. */
  readonly answers: (turn: string, clocks: TurnClocks) => void
  /** What the reply out now has written so far was heard, or 15 s have passed. */
  readonly said: Effect.Effect<void>
}

export const make = ({ call, feed, leg, parts, tools, transcript }: ReplyControllerOptions): ReplyController => {
  const { clock, plan, tell } = call
  const chat = parts.chat(plan.llm)
  const textOf = textsOf(call, transcript, parts.retrieve)
  let current: Reply.Reply | null = null
  /** Heard to its end, its scope still to be closed. */
  let finished: Reply.Reply | null = null
  let speculative: Reply.Reply | null = null
  let heardSince = ""
  let lastTurn: { readonly turn: string; readonly clocks: TurnClocks } | null = null

  const onStarted = (reply: number): void => {
    heardSince = clock.iso()
    if (current !== null && lastTurn !== null && current.turnId === lastTurn.turn) {
      const { marks, speculative: early } = current
      const latency = TurnLatency.measure(lastTurn.turn, lastTurn.clocks, marks, clock.now(), early)
      lastTurn = null
      call.remember({ _tag: "TurnMeasured", latency })
      feed.latency(latency)
    }
    tell({ _tag: "ReplyStarted", reply })
  }

  const onEnded = (reply: number): void => {
    if (current?.id === reply) {
      settle(current)
      finished = current
      current = null
    }
    tell({ _tag: "ReplyEnded", reply })
  }

  const player = new Player(
    leg,
    { onStarted, onEnded, onStarved: (reply) => call.journal.fault("playout_starved", { reply }) },
    (defect) => call.onDefect(Cause.die(defect), "Player")
  )

  /** What was heard of a reply becomes its record; its segments close for the client. */
  const settle = (reply: Reply.Reply): void => {
    for (const { segment, text } of reply.settleHeard()) {
      transcript.agent({ segment, text, turnId: reply.turnId, since: heardSince })
      feed.agentDone(segment)
    }
  }

  const take = (reply: Reply.Reply): void => {
    current = reply
    transcript.adopt(reply.entries)
    reply.commit()
    player.play(reply.sound)
  }

  const stop = Effect.suspend(() => {
    if (current !== null) {
      player.stop()
      settle(current)
    }
    const reply = current ?? finished
    current = null
    finished = null
    return reply === null ? Effect.void : reply.close
  })

  const begin: ReplyController["begin"] = Effect.fnUntraced(function* ({ cause, reply: id, speculative: held }) {
    if (!held) yield* stop
    const reply = yield* Reply.begin({
      call,
      request: {
        id,
        turnId: cause.kind === "turn" ? cause.turn : `${cause.kind}_${id}`,
        text: textOf(cause, held),
        silent: cause.kind === "turn" && !cause.spoken,
        speculative: held
      },
      chat,
      synthesizer: parts.synthesizer,
      playRate: leg.playRate,
      tools,
      newSegment: transcript.newSegment,
      onDelta: feed.agent
    })
    if (held) speculative = reply
    else take(reply)
  })

  /** A reply that follows while this one is waited for is waited for, too. */
  const allSaid: Effect.Effect<void> = Effect.suspend(() => {
    const reply = current
    if (reply === null) return Effect.void
    return Effect.andThen(
      reply.said,
      Effect.suspend(() => (current === null || current === reply ? Effect.void : allSaid))
    )
  })

  return {
    player,
    begin,
    commit: (reply) =>
      Effect.map(stop, () => {
        if (speculative?.id === reply) take(speculative)
        speculative = null
      }),
    discard: Effect.suspend(() => {
      const reply = speculative
      speculative = null
      return reply === null ? Effect.void : reply.close
    }),
    stop,
    pause: () => player.pause(),
    resume: () => player.resume(),
    answers: (turn, clocks) => void (lastTurn = { turn, clocks }),
    said: Effect.asVoid(Effect.timeoutOption(allSaid, saidBoundMs))
  }
}

/** What a reply is to say, by its cause; `early`: its turn is not recorded yet. */
const textsOf = (
  call: CallContext,
  transcript: Transcript,
  retrieve: CallParts["Service"]["retrieve"]
): ((cause: ReplyCause, early: boolean) => ReplyText) => {
  const { clock, journal, onDefect, plan, scope } = call
  const recall = Recall.make({ plan, retrieve, scope, now: clock.now, journal, onDefect })
  const system = { role: "system", content: plan.prompt.system } as const
  return (cause, early) => {
    switch (cause.kind) {
      case "line":
        return { kind: "say", text: lineIn(plan.voice.language, cause.line) }
      case "opening":
        return openingOf(plan.prompt)
      case "turn": {
        const asked = { role: "user", content: cause.text } as const
        const before = early ? [...transcript.messages(cause.turn), asked] : transcript.messages()
        return { kind: "answer", history: () => [system, ...before], recalled: recall(cause.text) }
      }
      case "voicemail": {
        const { voicemail } = plan.conversation
        if (voicemail?.action !== "leave_prompt_message") return { kind: "say", text: voicemail?.message ?? "" }
        const told = `[An answering machine took the call. Leave one message after its beep; nobody will answer. ${voicemail.message}]`
        return { kind: "answer", history: () => [system, ...transcript.messages(), { role: "user", content: told }] }
      }
      case "news": {
        const before = transcript.messages()
        return { kind: "answer", history: () => [system, ...before] }
      }
    }
  }
}
