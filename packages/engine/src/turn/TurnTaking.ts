// Who has the floor: `step(floor, signal, at) -> [floor, moves]`, pure. The same function runs live, in
// tests on a virtual clock and in replays of a recorded journal. After any signal the agent speaks,
// listens or the call has ended: every state in between has a deadline (see deadlines.ts).
import type { EndReason } from "@parley/contract/EndReason"
import { type ActiveReply, type CallerTurn, type Floor, stateOf, textOf } from "./Floor.ts"
import { deadlines, turnOverAt } from "./deadlines.ts"
import { isIgnored, mayBeIgnored, plainWords } from "./ignorePhrases.ts"
import type { Line, Move, ReplyCause } from "./Move.ts"
import { wordsToTakeFloor } from "./patience.ts"
import type { Signal } from "./Signal.ts"

/** Speculative replies tried for one turn. */
const maxGuesses = 3
/** Turns in a row without an answer before the call is given up. */
const maxFailures = 3
/** A row of digits is a turn this long after the last one (decisions 15). */
const digitPauseMs = 1_500

/** One step under way: the floor as it becomes, and what was decided so far. */
interface Step {
  floor: Floor
  readonly moves: Array<Move>
  readonly at: number
}

export const step = (floor: Floor, signal: Signal, at: number): readonly [Floor, ReadonlyArray<Move>] => {
  if (floor.ended !== null) return [floor, []]
  const s: Step = { floor, moves: [], at }
  receive(s, signal)
  const state = stateOf(s.floor)
  if (s.floor.ended === null && (state !== stateOf(floor) || signal._tag === "CallStarted")) {
    s.moves.push({ _tag: "ShowState", state })
  }
  return [s.floor, s.moves]
}

const receive = (s: Step, signal: Signal): void => {
  switch (signal._tag) {
    case "CallStarted":
      return callStarted(s)
    case "VoiceBegan":
      s.floor = { ...s.floor, voiceSince: signal.since, voiceIsNoise: false }
      return void openTurn(s)
    case "VoicePaused":
      return voicePaused(s, signal.lastVoicedAt)
    case "Partial":
      return partialHeard(s, signal.text.trim())
    case "Final":
      return finalHeard(s, signal.text.trim())
    case "Typed":
      return typed(s, signal.text.trim(), signal.spoken)
    case "Digit":
      return digit(s, signal.digit)
    case "InterruptAsked":
      return hush(s)
    case "ActivitySeen":
      s.floor = { ...s.floor, quietSince: s.at, reengaged: false }
      return
    case "ReplyStarted":
      if (s.floor.reply?.id === signal.reply) setReply(s, { ...s.floor.reply, heard: true })
      return
    case "ReplyEnded":
      return replyEnded(s, signal.reply)
    case "ReplyFailed":
      return replyFailed(s, signal.reply)
    case "HangUpDecided":
      if (s.floor.reply?.id === signal.reply) s.floor = { ...s.floor, ending: "agent_hangup" }
      return
    case "NewsArrived":
      s.floor = { ...s.floor, newsWaiting: true }
      return settle(s)
    case "TimePassed":
      return timePassed(s)
    case "HearingLost":
      return end(s, "internal_error")
    case "EndAsked":
      return end(s, signal.reason)
  }
}

const callStarted = (s: Step): void => {
  s.floor = { ...s.floor, quietSince: s.at }
  if (s.floor.rules.firstMessage !== "off") begin(s, { kind: "opening" })
}

// The caller speaks

const openTurn = (s: Step): CallerTurn => {
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

const voicePaused = (s: Step, lastVoicedAt: number): void => {
  const turn = openTurn(s)
  s.floor = { ...s.floor, voiceSince: null, voiceIsNoise: false, awaiting: s.floor.awaiting + 1 }
  setTurn(s, { ...turn, lastVoicedAt })
}

const partialHeard = (s: Step, text: string): void => {
  const { turn } = s.floor
  if (turn === null || turn.partial === text) return
  setTurn(s, { ...turn, partial: text })
  show(s, false)
  judgeWords(s)
}

const finalHeard = (s: Step, text: string): void => {
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

const typed = (s: Step, text: string, spoken: boolean): void => {
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

const digit = (s: Step, key: string): void => {
  const text = (s.floor.digits?.text ?? "") + (key === "#" ? "" : key)
  s.floor = { ...s.floor, quietSince: s.at, digits: { text, dueAt: key === "#" ? s.at : s.at + digitPauseMs } }
  if (s.floor.rules.interruptible) hush(s)
  if (key === "#") digitsDone(s)
}

const digitsDone = (s: Step): void => {
  const text = s.floor.digits?.text ?? ""
  s.floor = { ...s.floor, digits: null }
  if (text !== "") typed(s, `[keypad] ${text}`, true)
}

// The turn is over

/** Whatever is ready to go on, goes on. */
const settle = (s: Step): void => {
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

const completeTurn = (s: Step, waitedUntil: number): void => {
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
const speculate = (s: Step): void => {
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

const discardGuess = (s: Step): void => {
  if (s.floor.guess === null) return
  s.moves.push({ _tag: "DiscardReply", reply: s.floor.guess.id })
  s.floor = { ...s.floor, guess: null }
}

// The agent speaks

const begin = (s: Step, cause: ReplyCause): void => {
  const id = s.floor.replies + 1
  const quiet = cause.kind === "line" && cause.line === "reengage"
  s.floor = { ...s.floor, replies: id, reply: { ...reply(id, cause.kind), countsAsQuiet: quiet } }
  s.moves.push({ _tag: "BeginReply", reply: id, cause, speculative: false })
}

const say = (s: Step, line: Line): void => begin(s, { kind: "line", line })

/** Close the reply that is out. A goodbye that the caller cuts is taken back; a breakdown is not. */
const hush = (s: Step): void => {
  if (s.floor.reply === null) return
  s.moves.push({ _tag: "Hush", reply: s.floor.reply.id })
  s.floor = { ...s.floor, reply: null, quietSince: s.at }
  if (s.floor.ending === "agent_hangup") s.floor = { ...s.floor, ending: null }
  else if (s.floor.ending !== null) end(s, s.floor.ending)
}

const resume = (s: Step): void => {
  const { reply } = s.floor
  if (reply === null || reply.yieldedAt === null) return
  setReply(s, { ...reply, yieldedAt: null })
  s.moves.push({ _tag: "ResumeReply", reply: reply.id })
}

const replyEnded = (s: Step, id: number): void => {
  const { ending, reply } = s.floor
  if (reply === null || reply.id !== id) return
  const quietSince = reply.countsAsQuiet ? s.floor.quietSince : s.at
  s.floor = { ...s.floor, reply: null, quietSince, failures: reply.kind === "line" ? s.floor.failures : 0 }
  if (ending !== null) return end(s, ending)
  settle(s)
  speculate(s)
}

const replyFailed = (s: Step, id: number): void => {
  if (s.floor.guess?.id === id) {
    s.floor = { ...s.floor, guess: null }
    if (s.floor.turn !== null) setTurn(s, { ...s.floor.turn, guesses: maxGuesses })
    return
  }
  if (s.floor.reply?.id !== id) return
  const failures = s.floor.failures + 1
  s.floor = { ...s.floor, reply: null, failures, quietSince: s.at }
  if (failures >= maxFailures) {
    s.floor = { ...s.floor, ending: "llm_endpoint_failure" }
    say(s, "apology")
  } else say(s, "hold")
}

// Time passes

const timePassed = (s: Step): void => {
  const due = deadlines(s.floor)
    .filter((deadline) => deadline.at <= s.at)
    .sort((a, b) => a.at - b.at)
  for (const { name } of due) {
    // An earlier one may have changed the floor: only what is still due counts.
    if (s.floor.ended !== null || !deadlines(s.floor).some((d) => d.name === name && d.at <= s.at)) continue
    switch (name) {
      case "turnOver":
        settle(s)
        break
      case "bargeIn":
        yieldFloor(s)
        break
      case "noise":
        judgeNoise(s)
        break
      case "digits":
        digitsDone(s)
        break
      case "reengage":
        s.floor = { ...s.floor, reengaged: true }
        say(s, "reengage")
        break
      case "silence":
        silence(s)
        break
      case "duration":
        end(s, "conversation_timeout")
        break
    }
  }
}

const yieldFloor = (s: Step): void => {
  const { reply } = s.floor
  if (reply === null) return
  setReply(s, { ...reply, yieldedAt: s.at })
  s.moves.push({ _tag: "YieldFloor", reply: reply.id })
}

const judgeNoise = (s: Step): void => {
  if (s.floor.voiceSince !== null) s.floor = { ...s.floor, voiceIsNoise: true }
  if (s.floor.turn !== null && s.floor.turn.words.length === 0) s.floor = { ...s.floor, turn: null }
  s.floor = { ...s.floor, quietSince: s.at }
  resume(s)
}

const silence = (s: Step): void => {
  if (!s.floor.rules.farewell) return end(s, "agent_hangup")
  s.floor = { ...s.floor, ending: "agent_hangup" }
  say(s, "farewell")
}

const end = (s: Step, reason: EndReason): void => {
  if (s.floor.ended !== null) return
  s.floor = { ...s.floor, ended: reason, turn: null, reply: null, guess: null, digits: null }
  s.moves.push({ _tag: "End", reason })
}

// Small pieces

const reply = (id: number, kind: ReplyCause["kind"]): ActiveReply => ({
  id,
  kind,
  heard: false,
  yieldedAt: null,
  countsAsQuiet: false
})

const setTurn = (s: Step, turn: CallerTurn): void => {
  s.floor = { ...s.floor, turn }
}

const setReply = (s: Step, active: ActiveReply): void => {
  s.floor = { ...s.floor, reply: active }
}

const show = (s: Step, final: boolean): void => {
  if (s.floor.turn === null) return
  s.moves.push({ _tag: "ShowCaller", turn: s.floor.turn.id, text: textOf(s.floor.turn), final })
}

const same = (a: string, b: string): boolean => plainWords(a) === plainWords(b)
