// One step of turn-taking under way: the state as it becomes, the moves decided so far, and the few acts that
// every rule is made of. Local to one call of `step`, so that the outside sees a pure function.
import type { EndReason } from "@parley/contract/EndReason"
import { type ActiveReply, type CallerTurn, type TurnState, textOf } from "./TurnState.ts"
import type { Line, Move, ReplyCause } from "./Move.ts"

/** Changed in place while one signal is decided on. */
export interface Step {
  state: TurnState
  readonly moves: Array<Move>
  readonly at: number
}

/** The caller's turn; begun when there is none. */
export const openTurn = (s: Step): CallerTurn => {
  if (s.state.turn !== null) return s.state.turn
  const turns = s.state.turns + 1
  const turn: CallerTurn = {
    id: `turn_${turns}`,
    words: [],
    partial: "",
    lastVoicedAt: s.at,
    speculations: 0,
    spoken: true
  }
  s.state = { ...s.state, turn, turns }
  return turn
}

/** A reply that is committed from its start. */
export const begin = (s: Step, cause: ReplyCause): void => {
  const id = s.state.replies + 1
  const quiet = cause.kind === "line" && cause.line === "reengage"
  s.state = { ...s.state, replies: id, reply: { ...reply(id, cause.kind), countsAsQuiet: quiet } }
  s.moves.push({ _tag: "BeginReply", reply: id, cause, speculative: false })
}

/** A reply in words of our own. */
export const say = (s: Step, line: Line): void => begin(s, { kind: "line", line })

/** Close the reply that is out. A goodbye that the caller cuts is taken back; a breakdown is not. */
export const stopReply = (s: Step): void => {
  if (s.state.reply === null) return
  s.moves.push({ _tag: "StopReply", reply: s.state.reply.id })
  s.state = { ...s.state, reply: null, quietSince: s.at }
  if (s.state.ending === "agent_hangup") s.state = { ...s.state, ending: null }
  else if (s.state.ending !== null) end(s, s.state.ending)
}

/** The paused reply goes on. */
export const resume = (s: Step): void => {
  const { reply } = s.state
  if (reply === null || reply.pausedAt === null) return
  setReply(s, { ...reply, pausedAt: null })
  s.moves.push({ _tag: "ResumeReply", reply: reply.id })
}

/** The call is over; the first reason counts. */
export const end = (s: Step, reason: EndReason): void => {
  if (s.state.ended !== null) return
  s.state = { ...s.state, ended: reason, turn: null, reply: null, speculative: null, digits: null }
  s.moves.push({ _tag: "End", reason })
}

/** A reply that has not been heard yet. */
export const reply = (id: number, kind: ReplyCause["kind"]): ActiveReply => ({
  id,
  kind,
  heard: false,
  pausedAt: null,
  countsAsQuiet: false
})

/** Replaces the caller's turn. */
export const setTurn = (s: Step, turn: CallerTurn): void => {
  s.state = { ...s.state, turn }
}

/** Replaces the reply that is out. */
export const setReply = (s: Step, active: ActiveReply): void => {
  s.state = { ...s.state, reply: active }
}

/** The client is told the caller's words so far. */
export const show = (s: Step, final: boolean): void => {
  if (s.state.turn === null) return
  s.moves.push({ _tag: "ShowCaller", turn: s.state.turn.id, text: textOf(s.state.turn), final })
}
