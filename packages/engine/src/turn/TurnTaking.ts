// Who has the floor: `step(floor, signal, at) -> [floor, moves]`, pure. The same function runs live, in
// tests on a virtual clock and in replays of a recorded journal. After any signal the agent speaks,
// listens or the call has ended: every state in between has a deadline (see deadlines.ts).
import { type Floor, stateOf } from "./Floor.ts"
import { digit, digitsDone, finalHeard, partialHeard, typed, voicePaused } from "./caller.ts"
import { discardGuess, maxGuesses, settle, speculate } from "./completion.ts"
import { deadlines } from "./deadlines.ts"
import { beepHeard, leaveMessage } from "./machine.ts"
import type { Move } from "./Move.ts"
import type { Signal } from "./Signal.ts"
import { begin, end, hush, openTurn, resume, say, setReply, setTurn, type Step } from "./Step.ts"

/** Turns in a row without an answer before the call is given up. */
const maxFailures = 3

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
    case "BeepHeard":
      return beepHeard(s)
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
      // A guess that was begun before does not know it.
      discardGuess(s)
      settle(s)
      return speculate(s)
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
      case "voicemail":
        leaveMessage(s)
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
