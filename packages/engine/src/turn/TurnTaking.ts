// Whose turn it is to speak: `step(state, signal, at) -> [state, moves]`, pure. The same function runs live, in
// tests on a virtual clock and in replays of a recorded journal. After any signal the agent speaks,
// listens or the call has ended: every state in between has a deadline (see deadlines.ts).
import { agentStateOf, type TurnState } from "./TurnState.ts"
import { digit, digitsDone, finalHeard, partialHeard, typed, voicePaused } from "./caller.ts"
import { discardSpeculative, maxSpeculations, settle, speculate } from "./completion.ts"
import { deadlines } from "./deadlines.ts"
import { beepHeard, leaveMessage } from "./voicemail.ts"
import type { Move } from "./Move.ts"
import type { Signal } from "./Signal.ts"
import { begin, end, stopReply, openTurn, resume, say, setReply, setTurn, type Step } from "./Step.ts"

/** Turns in a row without an answer before the call is given up. */
const maxFailures = 3

/**
 * Decides what follows from one signal. `at` is in milliseconds since the call began and never goes back.
 * Returns the next state and the moves to carry out, in order; after the call has ended, nothing changes any more.
 */
export const step = (state: TurnState, signal: Signal, at: number): readonly [TurnState, ReadonlyArray<Move>] => {
  if (state.ended !== null) return [state, []]
  const s: Step = { state, moves: [], at }
  receive(s, signal)
  const shown = agentStateOf(s.state)
  if (s.state.ended === null && (shown !== agentStateOf(state) || signal._tag === "CallStarted")) {
    s.moves.push({ _tag: "ShowState", state: shown })
  }
  return [s.state, s.moves]
}

const receive = (s: Step, signal: Signal): void => {
  switch (signal._tag) {
    case "CallStarted":
      return callStarted(s)
    case "VoiceBegan":
      s.state = { ...s.state, voiceSince: signal.since, voiceIsNoise: false }
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
      return stopReply(s)
    case "ActivitySeen":
      s.state = { ...s.state, quietSince: s.at, reengaged: false }
      return
    case "ReplyStarted":
      if (s.state.reply?.id === signal.reply) setReply(s, { ...s.state.reply, heard: true })
      return
    case "ReplyEnded":
      return replyEnded(s, signal.reply)
    case "ReplyFailed":
      return replyFailed(s, signal.reply)
    case "HangUpDecided":
      if (s.state.reply?.id === signal.reply) s.state = { ...s.state, ending: "agent_hangup" }
      return
    case "NewsArrived":
      s.state = { ...s.state, newsWaiting: true }
      // A speculative reply that was begun before does not know it.
      discardSpeculative(s)
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
  s.state = { ...s.state, quietSince: s.at }
  if (s.state.rules.firstMessage !== "off") begin(s, { kind: "opening" })
}

const replyEnded = (s: Step, id: number): void => {
  const { ending, reply } = s.state
  if (reply === null || reply.id !== id) return
  const quietSince = reply.countsAsQuiet ? s.state.quietSince : s.at
  s.state = { ...s.state, reply: null, quietSince, failures: reply.kind === "line" ? s.state.failures : 0 }
  if (ending !== null) return end(s, ending)
  settle(s)
  speculate(s)
}

const replyFailed = (s: Step, id: number): void => {
  if (s.state.speculative?.id === id) {
    s.state = { ...s.state, speculative: null }
    if (s.state.turn !== null) setTurn(s, { ...s.state.turn, speculations: maxSpeculations })
    return
  }
  if (s.state.reply?.id !== id) return
  const failures = s.state.failures + 1
  s.state = { ...s.state, reply: null, failures, quietSince: s.at }
  if (failures >= maxFailures) {
    s.state = { ...s.state, ending: "llm_endpoint_failure" }
    say(s, "apology")
  } else say(s, "hold")
}

// Time passes

const timePassed = (s: Step): void => {
  const due = deadlines(s.state)
    .filter((deadline) => deadline.at <= s.at)
    .sort((a, b) => a.at - b.at)
  for (const { name } of due) {
    // An earlier one may have changed the state: only what is still due counts.
    if (s.state.ended !== null || !deadlines(s.state).some((d) => d.name === name && d.at <= s.at)) continue
    switch (name) {
      case "turnOver":
        settle(s)
        break
      case "bargeIn":
        pauseReply(s)
        break
      case "noise":
        judgeNoise(s)
        break
      case "digits":
        digitsDone(s)
        break
      case "reengage":
        s.state = { ...s.state, reengaged: true }
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

const pauseReply = (s: Step): void => {
  const { reply } = s.state
  if (reply === null) return
  setReply(s, { ...reply, pausedAt: s.at })
  s.moves.push({ _tag: "PauseReply", reply: reply.id })
}

const judgeNoise = (s: Step): void => {
  if (s.state.voiceSince !== null) s.state = { ...s.state, voiceIsNoise: true }
  if (s.state.turn !== null && s.state.turn.words.length === 0) s.state = { ...s.state, turn: null }
  s.state = { ...s.state, quietSince: s.at }
  resume(s)
}

const silence = (s: Step): void => {
  if (!s.state.rules.farewell) return end(s, "agent_hangup")
  s.state = { ...s.state, ending: "agent_hangup" }
  say(s, "farewell")
}
