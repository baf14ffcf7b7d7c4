// What the caller does, by voice, keyboard or keypad, and whether it interrupts the agent.
import { type ActiveReply, textOf } from "./TurnState.ts"
import { completeTurn, settle, speculate } from "./completion.ts"
import { isIgnored, mayBeIgnored, plainWords } from "./ignorePhrases.ts"
import { voicemailSpeaks } from "./voicemail.ts"
import { wordsToInterrupt } from "./endpointing.ts"
import { stopReply, openTurn, resume, setTurn, show, type Step } from "./Step.ts"

/** A row of digits is a turn this long after the last one. */
const digitPauseMs = 1_500

/** The voice is over; the recogniser owes one more final text. */
export const voicePaused = (s: Step, lastVoicedAt: number): void => {
  const turn = openTurn(s)
  const lastVoice = s.state.voiceSince === null ? null : { since: s.state.voiceSince, until: lastVoicedAt }
  s.state = { ...s.state, voiceSince: null, voiceIsNoise: false, lastVoice, awaiting: s.state.awaiting + 1 }
  setTurn(s, { ...turn, lastVoicedAt })
}

/** Words that may still change. */
export const partialHeard = (s: Step, text: string): void => {
  const { turn } = s.state
  if (turn === null || turn.partial === text) return
  setTurn(s, { ...turn, partial: text })
  show(s, false)
  if (voicemailSpeaks(s)) return
  judgeWords(s)
}

/** The words of one utterance, or none. */
export const finalHeard = (s: Step, text: string): void => {
  s.state = { ...s.state, awaiting: Math.max(0, s.state.awaiting - 1) }
  if (s.state.turn === null && text === "") return
  // Words that come after their turn was given up as noise still count.
  const turn = openTurn(s)
  const { reply, rules } = s.state
  const backChannel = reply !== null && turn.words.length === 0 && isIgnored(text, rules.interruptionIgnorePhrases)
  if (backChannel) s.moves.push({ _tag: "ShowCaller", turn: turn.id, text, final: true })
  const words = text === "" || backChannel ? turn.words : [...turn.words, text]
  setTurn(s, { ...turn, words, partial: "" })
  if (words.length === 0) {
    if (s.state.awaiting === 0 && s.state.voiceSince === null) dropTurn(s)
    return
  }
  s.state = { ...s.state, reengaged: false }
  show(s, false)
  if (voicemailSpeaks(s)) return dropTurn(s)
  judgeWords(s)
  settle(s)
  speculate(s)
}

/** Words are there: do they interrupt the agent? */
const judgeWords = (s: Step): void => {
  const { reply, rules, turn } = s.state
  if (turn === null || reply === null || !rules.interruptible) return
  const text = textOf(turn)
  if (text === "" || mayBeIgnored(text, rules.interruptionIgnorePhrases)) return
  const enough =
    reply.pausedAt !== null || plainWords(text).split(" ").length >= wordsToInterrupt[rules.interruptionSensitivity]
  if (!enough) return
  stopReply(s)
  reopen(s, reply)
}

/** The caller went on before hearing any answer: it is still the same turn. */
const reopen = (s: Step, cut: ActiveReply): void => {
  const { answered, turn } = s.state
  if (turn === null || answered === null || cut.heard || cut.kind !== "turn") return
  setTurn(s, { ...turn, id: answered.id, words: [...answered.words, ...turn.words] })
  s.state = { ...s.state, answered: null }
}

/** Nothing was said after all. */
const dropTurn = (s: Step): void => {
  if (s.state.turn !== null && textOf(s.state.turn) !== "") show(s, true)
  s.state = { ...s.state, turn: null }
  resume(s)
}

/** A whole turn at once, from the client or the keypad. */
export const typed = (s: Step, text: string, spoken: boolean): void => {
  if (text === "") return
  const fresh = s.state.turn === null
  const turn = openTurn(s)
  setTurn(s, {
    ...turn,
    words: [...turn.words, text],
    partial: "",
    lastVoicedAt: s.at,
    spoken: fresh ? spoken : turn.spoken
  })
  if (s.state.rules.interruptible) stopReply(s)
  if (s.state.reply === null) completeTurn(s, s.at)
}

/** One DTMF digit; `#` ends the row. */
export const digit = (s: Step, key: string): void => {
  const text = (s.state.digits?.text ?? "") + (key === "#" ? "" : key)
  s.state = { ...s.state, quietSince: s.at, digits: { text, dueAt: key === "#" ? s.at : s.at + digitPauseMs } }
  if (s.state.rules.interruptible) stopReply(s)
  if (key === "#") digitsDone(s)
}

/** The row of digits becomes a turn. */
export const digitsDone = (s: Step): void => {
  const text = s.state.digits?.text ?? ""
  s.state = { ...s.state, digits: null }
  if (text !== "") typed(s, `[keypad] ${text}`, true)
}
