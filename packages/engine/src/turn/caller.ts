// What the caller does, by voice, keyboard or keypad, and whether it takes the floor from the agent.
import { type ActiveReply, textOf } from "./Floor.ts"
import { completeTurn, settle, speculate } from "./completion.ts"
import { isIgnored, mayBeIgnored, plainWords } from "./ignorePhrases.ts"
import { machineSpeaks } from "./machine.ts"
import { wordsToTakeFloor } from "./patience.ts"
import { hush, openTurn, resume, setTurn, show, type Step } from "./Step.ts"

/** A row of digits is a turn this long after the last one (decisions 15). */
const digitPauseMs = 1_500

export const voicePaused = (s: Step, lastVoicedAt: number): void => {
  const turn = openTurn(s)
  const lastVoice = s.floor.voiceSince === null ? null : { since: s.floor.voiceSince, until: lastVoicedAt }
  s.floor = { ...s.floor, voiceSince: null, voiceIsNoise: false, lastVoice, awaiting: s.floor.awaiting + 1 }
  setTurn(s, { ...turn, lastVoicedAt })
}

export const partialHeard = (s: Step, text: string): void => {
  const { turn } = s.floor
  if (turn === null || turn.partial === text) return
  setTurn(s, { ...turn, partial: text })
  show(s, false)
  if (machineSpeaks(s)) return
  judgeWords(s)
}

export const finalHeard = (s: Step, text: string): void => {
  s.floor = { ...s.floor, awaiting: Math.max(0, s.floor.awaiting - 1) }
  if (s.floor.turn === null && text === "") return
  // Words that come after their turn was given up as noise still count.
  const turn = openTurn(s)
  const { reply, rules } = s.floor
  const backChannel = reply !== null && turn.words.length === 0 && isIgnored(text, rules.interruptionIgnorePhrases)
  if (backChannel) s.moves.push({ _tag: "ShowCaller", turn: turn.id, text, final: true })
  const words = text === "" || backChannel ? turn.words : [...turn.words, text]
  setTurn(s, { ...turn, words, partial: "" })
  if (words.length === 0) {
    if (s.floor.awaiting === 0 && s.floor.voiceSince === null) dropTurn(s)
    return
  }
  s.floor = { ...s.floor, reengaged: false }
  show(s, false)
  if (machineSpeaks(s)) return dropTurn(s)
  judgeWords(s)
  settle(s)
  speculate(s)
}

/** Words are there: do they take the floor from the agent? */
const judgeWords = (s: Step): void => {
  const { reply, rules, turn } = s.floor
  if (turn === null || reply === null || !rules.interruptible) return
  const text = textOf(turn)
  if (text === "" || mayBeIgnored(text, rules.interruptionIgnorePhrases)) return
  const enough =
    reply.yieldedAt !== null || plainWords(text).split(" ").length >= wordsToTakeFloor[rules.interruptionSensitivity]
  if (!enough) return
  hush(s)
  reopen(s, reply)
}

/** The caller went on before hearing any answer: it is still the same turn. */
const reopen = (s: Step, cut: ActiveReply): void => {
  const { answered, turn } = s.floor
  if (turn === null || answered === null || cut.heard || cut.kind !== "turn") return
  setTurn(s, { ...turn, id: answered.id, words: [...answered.words, ...turn.words] })
  s.floor = { ...s.floor, answered: null }
}

/** Nothing was said after all. */
const dropTurn = (s: Step): void => {
  if (s.floor.turn !== null && textOf(s.floor.turn) !== "") show(s, true)
  s.floor = { ...s.floor, turn: null }
  resume(s)
}

export const typed = (s: Step, text: string, spoken: boolean): void => {
  if (text === "") return
  const fresh = s.floor.turn === null
  const turn = openTurn(s)
  setTurn(s, {
    ...turn,
    words: [...turn.words, text],
    partial: "",
    lastVoicedAt: s.at,
    spoken: fresh ? spoken : turn.spoken
  })
  if (s.floor.rules.interruptible) hush(s)
  if (s.floor.reply === null) completeTurn(s, s.at)
}

export const digit = (s: Step, key: string): void => {
  const text = (s.floor.digits?.text ?? "") + (key === "#" ? "" : key)
  s.floor = { ...s.floor, quietSince: s.at, digits: { text, dueAt: key === "#" ? s.at : s.at + digitPauseMs } }
  if (s.floor.rules.interruptible) hush(s)
  if (key === "#") digitsDone(s)
}

export const digitsDone = (s: Step): void => {
  const text = s.floor.digits?.text ?? ""
  s.floor = { ...s.floor, digits: null }
  if (text !== "") typed(s, `[keypad] ${text}`, true)
}
