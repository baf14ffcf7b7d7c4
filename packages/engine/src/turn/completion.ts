// The end of the caller's turn: when it is complete, what answers it, and the guess that was begun before.
import { textOf } from "./Floor.ts"
import { turnOverAt } from "./deadlines.ts"
import { plainWords } from "./ignorePhrases.ts"
import { begin, reply, show, type Step } from "./Step.ts"

/** Speculative replies tried for one turn. */
export const maxGuesses = 3

/** Whatever is ready to go on, goes on. */
export const settle = (s: Step): void => {
  const { reply, turn, voiceSince } = s.floor
  if (reply !== null || s.floor.ended !== null) return
  if (turn !== null) {
    const ready = voiceSince === null && s.floor.awaiting === 0 && textOf(turn) !== ""
    if (ready && s.at >= turnOverAt(s.floor)) completeTurn(s, turnOverAt(s.floor))
  } else if (s.floor.newsWaiting) {
    s.floor = { ...s.floor, newsWaiting: false }
    begin(s, { kind: "news" })
  }
}

export const completeTurn = (s: Step, waitedUntil: number): void => {
  const { guess, turn } = s.floor
  if (turn === null) return
  const text = textOf(turn)
  show(s, true)
  s.moves.push({
    _tag: "RecordTurn",
    turn: turn.id,
    text,
    clocks: { lastVoicedAt: turn.lastVoicedAt, waitedUntil, decidedAt: s.at }
  })
  s.floor = { ...s.floor, turn: null, answered: { id: turn.id, words: [text] }, newsWaiting: false, reengaged: false }
  if (guess !== null && same(guess.text, text) && turn.spoken) {
    s.floor = { ...s.floor, guess: null, reply: reply(guess.id, "turn") }
    s.moves.push({ _tag: "CommitReply", reply: guess.id })
    return
  }
  discardGuess(s)
  begin(s, { kind: "turn", turn: turn.id, text, spoken: turn.spoken })
}

/** Begin an answer to what the turn holds so far, in the hope that nothing is added. */
export const speculate = (s: Step): void => {
  const { guess, reply, rules, turn, voiceSince } = s.floor
  if (turn === null || reply !== null || s.floor.ended !== null) return
  const text = textOf(turn)
  if (guess !== null && same(guess.text, text)) return
  discardGuess(s)
  if (!rules.speculativeResponse || voiceSince !== null || s.floor.awaiting > 0 || turn.guesses >= maxGuesses) return
  const id = s.floor.replies + 1
  s.floor = { ...s.floor, replies: id, guess: { id, text }, turn: { ...turn, guesses: turn.guesses + 1 } }
  s.moves.push({
    _tag: "BeginReply",
    reply: id,
    cause: { kind: "turn", turn: turn.id, text, spoken: true },
    speculative: true
  })
}

export const discardGuess = (s: Step): void => {
  if (s.floor.guess === null) return
  s.moves.push({ _tag: "DiscardReply", reply: s.floor.guess.id })
  s.floor = { ...s.floor, guess: null }
}

const same = (a: string, b: string): boolean => plainWords(a) === plainWords(b)
