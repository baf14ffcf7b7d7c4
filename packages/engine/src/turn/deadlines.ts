// The moments at which a decision is due although nothing happens. Derived from the state of turn-taking
// alone, so none can be forgotten or left behind. Milliseconds since the call began.
import { type LimitName, limits } from "../time/limits.ts"
import { type TurnState, textOf } from "./TurnState.ts"
import { noiseLimitMs, waitAfter, pauseReplyAfterMs } from "./endpointing.ts"

/** What is due: the end of a turn, a reaction to voice or keys, or a limit of the call. */
export type DeadlineName = LimitName | "turnOver" | "bargeIn" | "noise" | "digits" | "voicemail"

/** One thing that becomes due. */
export interface Deadline {
  readonly name: DeadlineName
  /** Milliseconds since the call began. */
  readonly at: number
}

/** Voice without a word, nobody being interrupted by it, is noise after this long. */
const longNoiseMs = 15_000
/** Without a beep the message for a machine begins when its greeting has been over for this long, or has taken this long. */
const greetingOverMs = 2_500
const greetingMs = 30_000

/** Everything that is due in this state, in no order. */
export const deadlines = (state: TurnState): ReadonlyArray<Deadline> => {
  const { reply, rules, turn, voiceSince } = state
  const idle = reply === null && turn === null && (state.voicemail === null || state.voicemail.left)
  const found: Array<Deadline> = [...limits(rules, { ...state, idle })]
  const words = turn === null ? "" : textOf(turn)

  if (turn !== null && voiceSince === null && state.awaiting === 0 && reply === null && words !== "") {
    found.push({ name: "turnOver", at: turnOverAt(state) })
  }
  if (voiceSince !== null && !state.voiceIsNoise) {
    if (reply !== null && reply.pausedAt === null && rules.interruptible) {
      found.push({ name: "bargeIn", at: voiceSince + pauseReplyAfterMs[rules.interruptionSensitivity] })
    }
    if (rules.partials && words === "") {
      const pausedAt = reply?.pausedAt ?? null
      found.push({ name: "noise", at: pausedAt === null ? voiceSince + longNoiseMs : pausedAt + noiseLimitMs })
    }
  } else if (turn !== null && reply !== null && reply.pausedAt !== null) {
    found.push({ name: "noise", at: Math.max(turn.lastVoicedAt, reply.pausedAt) + noiseLimitMs })
  }
  if (state.voicemail !== null && !state.voicemail.left)
    found.push({ name: "voicemail", at: messageDueAt(state, state.voicemail) })
  if (state.digits !== null) found.push({ name: "digits", at: state.digits.dueAt })
  return found
}

/** End of the wait for the turn as it stands; only sensible while there is a turn. */
export const turnOverAt = (state: TurnState): number =>
  state.turn === null ? 0 : state.turn.lastVoicedAt + waitAfter(textOf(state.turn), state.rules)

/** When the message begins though no beep was heard. */
const messageDueAt = ({ lastVoice, voiceSince }: TurnState, { since }: { readonly since: number }): number => {
  const late = since + greetingMs
  return voiceSince === null ? Math.min(late, Math.max(since, lastVoice?.until ?? 0) + greetingOverMs) : late
}

/** The earliest of them; undefined once the call has ended. */
export const nextDeadline = (state: TurnState): Deadline | undefined =>
  state.ended === null ? deadlines(state).reduce((a, b) => (b.at < a.at ? b : a)) : undefined
