// Carries out what turn-taking decides: replies are begun and closed, the transcript is written, the client is told.
import { Effect } from "effect"
import type { ClientFeed } from "./leg/ClientFeed.ts"
import type { ReplyController } from "./reply/ReplyController.ts"
import type { Transcript } from "./transcript/Transcript.ts"
import type { Move } from "./turn/Move.ts"

/** Who carries the moves out. */
export interface PerformerOptions {
  readonly replies: ReplyController
  readonly transcript: Pick<Transcript, "caller">
  readonly feed: Pick<ClientFeed, "caller" | "state">
}

/** Done when the move is carried out; what a reply goes on to do is not waited for. */
export const performer =
  ({ feed, replies, transcript }: PerformerOptions) =>
  (move: Move): Effect.Effect<void> => {
    switch (move._tag) {
      case "BeginReply":
        return replies.begin(move)
      case "CommitReply":
        return replies.commit(move.reply)
      case "DiscardReply":
        return replies.discard
      case "StopReply":
        return replies.stop
      case "PauseReply":
        return Effect.sync(replies.pause)
      case "ResumeReply":
        return Effect.sync(replies.resume)
      case "RecordTurn":
        return Effect.sync(() => {
          transcript.caller(move.turn, move.text)
          replies.answers(move.turn, move.clocks)
        })
      case "ShowCaller":
        return Effect.sync(() => feed.caller(move.turn, move.text, move.final))
      case "ShowState":
        return Effect.sync(() => feed.state(move.state))
      case "End":
        return Effect.void
    }
  }
