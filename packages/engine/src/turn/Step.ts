// One step of the floor under way: the floor as it becomes, the moves decided so far, and the few acts that
// every rule is made of. Local to one call of `step`, so that the outside sees a pure function.
import type { EndReason } from "@parley/contract/EndReason"
import { type ActiveReply, type CallerTurn, type Floor, textOf } from "./Floor.ts"
import type { Line, Move, ReplyCause } from "./Move.ts"

export interface Step {
  floor: Floor
  readonly moves: Array<Move>
  readonly at: number
}

export const openTurn = (s: Step): CallerTurn => {
  if (s.floor.turn !== null) return s.floor.turn
  const turns = s.floor.turns + 1
  const turn: CallerTurn = {
    id: `turn_${turns}`,
    words: [],
    partial: "",
    lastVoicedAt: s.at,
    guesses: 0,
    spoken: true
  }
  s.floor = { ...s.floor, turn, turns }
  return turn
}

export const begin = (s: Step, cause: ReplyCause): void => {
  const id = s.floor.replies + 1
  const quiet = cause.kind === "line" && cause.line === "reengage"
  s.floor = { ...s.floor, replies: id, reply: { ...reply(id, cause.kind), countsAsQuiet: quiet } }
  s.moves.push({ _tag: "BeginReply", reply: id, cause, speculative: false })
}

export const say = (s: Step, line: Line): void => begin(s, { kind: "line", line })

/** Close the reply that is out. A goodbye that the caller cuts is taken back; a breakdown is not. */
export const hush = (s: Step): void => {
  if (s.floor.reply === null) return
  s.moves.push({ _tag: "Hush", reply: s.floor.reply.id })
  s.floor = { ...s.floor, reply: null, quietSince: s.at }
  if (s.floor.ending === "agent_hangup") s.floor = { ...s.floor, ending: null }
  else if (s.floor.ending !== null) end(s, s.floor.ending)
}

export const resume = (s: Step): void => {
  const { reply } = s.floor
  if (reply === null || reply.yieldedAt === null) return
  setReply(s, { ...reply, yieldedAt: null })
  s.moves.push({ _tag: "ResumeReply", reply: reply.id })
}

export const end = (s: Step, reason: EndReason): void => {
  if (s.floor.ended !== null) return
  s.floor = { ...s.floor, ended: reason, turn: null, reply: null, guess: null, digits: null }
  s.moves.push({ _tag: "End", reason })
}

export const reply = (id: number, kind: ReplyCause["kind"]): ActiveReply => ({
  id,
  kind,
  heard: false,
  yieldedAt: null,
  countsAsQuiet: false
})

export const setTurn = (s: Step, turn: CallerTurn): void => {
  s.floor = { ...s.floor, turn }
}

export const setReply = (s: Step, active: ActiveReply): void => {
  s.floor = { ...s.floor, reply: active }
}

export const show = (s: Step, final: boolean): void => {
  if (s.floor.turn === null) return
  s.moves.push({ _tag: "ShowCaller", turn: s.floor.turn.id, text: textOf(s.floor.turn), final })
}
