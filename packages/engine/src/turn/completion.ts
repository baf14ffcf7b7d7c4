// The end of the caller's turn: when it is complete, what answers it, and the speculative reply begun before.
import { textOf } from "./TurnState.ts"
import { turnOverAt } from "./deadlines.ts"
import { plainWords } from "./ignorePhrases.ts"
import { begin, reply, show, type Step } from "./Step.ts"

/** Speculative replies tried for one turn. */
export const maxSpeculations = 3

/** Whatever is ready to go on, goes on. */
export const settle = (s: Step): void => {
  const { reply, turn, voiceSince } = s.state
  if (reply !== null || s.state.ended !== null) return
  if (turn !== null) {
    const ready = voiceSince === null && s.state.awaiting === 0 && textOf(turn) !== ""
    if (ready && s.at >= turnOverAt(s.state)) completeTurn(s, turnOverAt(s.state))
  } else if (s.state.newsWaiting) {
    s.state = { ...s.state, newsWaiting: false }
    begin(s, { kind: "news" })
  }
}

/** The turn is over: recorded, and answered by the speculative reply when its text is still the same. */
export const completeTurn = (s: Step, waitedUntil: number): void => {
  const { speculative, turn } = s.state
  if (turn === null) return
  const text = textOf(turn)
  show(s, true)
  s.moves.push({
    _tag: "RecordTurn",
    turn: turn.id,
    text,
    clocks: { lastVoicedAt: turn.lastVoicedAt, waitedUntil, decidedAt: s.at }
  })
  s.state = { ...s.state, turn: null, answered: { id: turn.id, words: [text] }, newsWaiting: false, reengaged: false }
  if (speculative !== null && same(speculative.text, text) && turn.spoken) {
    s.state = { ...s.state, speculative: null, reply: reply(speculative.id, "turn") }
    s.moves.push({ _tag: "CommitReply", reply: speculative.id })
    return
  }
  discardSpeculative(s)
  begin(s, { kind: "turn", turn: turn.id, text, spoken: turn.spoken })
}

/** Begin an answer to what the turn holds so far, in the hope that nothing is added. */
export const speculate = (s: Step): void => {
  const { speculative, reply, rules, turn, voiceSince } = s.state
  if (turn === null || reply !== null || s.state.ended !== null) return
  const text = textOf(turn)
  if (speculative !== null && same(speculative.text, text)) return
  discardSpeculative(s)
  if (!rules.speculativeResponse || voiceSince !== null || s.state.awaiting > 0 || turn.speculations >= maxSpeculations)
    return
  const id = s.state.replies + 1
  s.state = {
    ...s.state,
    replies: id,
    speculative: { id, text },
    turn: { ...turn, speculations: turn.speculations + 1 }
  }
  s.moves.push({
    _tag: "BeginReply",
    reply: id,
    cause: { kind: "turn", turn: turn.id, text, spoken: true },
    speculative: true
  })
}

/** The speculative reply is closed without having been heard. */
export const discardSpeculative = (s: Step): void => {
  if (s.state.speculative === null) return
  s.moves.push({ _tag: "DiscardReply", reply: s.state.speculative.id })
  s.state = { ...s.state, speculative: null }
}

const same = (a: string, b: string): boolean => plainWords(a) === plainWords(b)
