// Owns the one committed and the one speculative reply of a call: begins, commits and closes them, plays the committed
// one, and settles what was heard of it. Each operation is one move of turn-taking.
import { Cause, Effect } from "effect"
import type { CallContext } from "../CallContext.ts"
import { TurnMeter } from "../journal/TurnMeter.ts"
import type { ClientFeed } from "../leg/ClientFeed.ts"
import type { Leg } from "../leg/Leg.ts"
import { Player } from "../playout/Player.ts"
import type { CallParts } from "../ports/CallParts.ts"
import type { Transcript } from "../transcript/Transcript.ts"
import type { Move, TurnClocks } from "../turn/Move.ts"
import type { ReplyText, ToolExecutor } from "./Answer.ts"
import * as Reply from "./Reply.ts"
import { textsOf } from "./replyText.ts"

type BeginReply = Extract<Move, { _tag: "BeginReply" }>

/** Longest wait for what was begun to be said. */
const saidBoundMs = 15_000

/** What replies are made with, and who is told of them. */
export interface ReplyControllerOptions {
  readonly call: CallContext
  readonly parts: Pick<CallParts["Service"], "chat" | "synthesizer" | "retrieve">
  readonly leg: Pick<Leg, "play" | "playRate">
  readonly feed: Pick<ClientFeed, "agent" | "agentDone" | "latency">
  readonly transcript: Transcript
  readonly tools: ToolExecutor
}

/** The replies of one call. Effects are done when the move is carried out, not when a reply has been heard. */
export interface ReplyController {
  /** To be ticked as long as the call lasts. */
  readonly player: Player
  readonly begin: (move: BeginReply) => Effect.Effect<void>
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

/** One for the call; its player has to be ticked. */
export const make = ({ call, feed, leg, parts, tools, transcript }: ReplyControllerOptions): ReplyController => {
  const { clock, plan, tell } = call
  const chat = parts.chat(plan.llm)
  const textOf = textsOf(call, transcript, parts.retrieve)
  const settle = settling(transcript, feed)
  let current: Reply.Reply | null = null
  /** Heard to its end, its scope still to be closed. */
  let finished: Reply.Reply | null = null
  let speculative: Reply.Reply | null = null
  let heardSince = ""
  const meter = new TurnMeter()

  const onStarted = (reply: number): void => {
    heardSince = clock.iso()
    const latency = current === null ? undefined : meter.started(current, clock.now())
    if (latency !== undefined) {
      call.remember({ _tag: "TurnMeasured", latency })
      feed.latency(latency)
    }
    tell({ _tag: "ReplyStarted", reply })
  }

  const onEnded = (reply: number): void => {
    if (current?.id === reply) {
      settle(current, heardSince)
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

  const take = (reply: Reply.Reply): void => {
    current = reply
    transcript.adopt(reply.entries)
    reply.commit()
    player.play(reply.sound)
  }

  const stop = Effect.suspend(() => {
    if (current !== null) {
      player.stop()
      settle(current, heardSince)
    }
    const reply = current ?? finished
    current = null
    finished = null
    return reply === null ? Effect.void : reply.close
  })

  const begin: ReplyController["begin"] = Effect.fnUntraced(function* (move) {
    if (!move.speculative) yield* stop
    const reply = yield* Reply.begin({
      call,
      request: requestOf(move, textOf(move.cause, move.speculative)),
      chat,
      synthesizer: parts.synthesizer,
      playRate: leg.playRate,
      tools,
      newSegment: transcript.newSegment,
      onDelta: feed.agent
    })
    if (move.speculative) speculative = reply
    else take(reply)
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
    answers: (turn, clocks) => meter.answers(turn, clocks),
    said: Effect.asVoid(
      Effect.timeoutOption(
        allSaid(() => current),
        saidBoundMs
      )
    )
  }
}

const requestOf = ({ cause, reply, speculative }: BeginReply, text: ReplyText): Reply.ReplyRequest => ({
  id: reply,
  turnId: cause.kind === "turn" ? cause.turn : `${cause.kind}_${reply}`,
  text,
  silent: cause.kind === "turn" && !cause.spoken,
  speculative
})

/** What was heard of a reply becomes its record; its segments close for the client. */
const settling =
  (transcript: Transcript, feed: Pick<ClientFeed, "agentDone">) =>
  (reply: Reply.Reply, since: string): void => {
    for (const { segment, text } of reply.settleHeard()) {
      transcript.agent({ segment, text, turnId: reply.turnId, since })
      feed.agentDone(segment)
    }
  }

/** A reply that follows while this one is waited for is waited for, too. */
const allSaid = (current: () => Reply.Reply | null): Effect.Effect<void> =>
  Effect.suspend(() => {
    const reply = current()
    if (reply === null) return Effect.void
    const next = Effect.suspend(() => (current() === reply ? Effect.void : allSaid(current)))
    return Effect.andThen(reply.said, next)
  })
