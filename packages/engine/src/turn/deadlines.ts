// The moments at which the floor must be looked at again although nothing happens. Derived from its
// state alone, so none can be forgotten or left behind. Milliseconds since the call began.
import { type Floor, textOf } from "./Floor.ts"
import { noiseLimitMs, waitAfter, yieldAfterMs } from "./patience.ts"

export type DeadlineName =
  | "turnOver"
  | "bargeIn"
  | "noise"
  | "digits"
  | "reengage"
  | "silence"
  | "voicemail"
  | "duration"

export interface Deadline {
  readonly name: DeadlineName
  readonly at: number
}

/** Voice without a word, nobody being interrupted by it, is noise after this long. */
const longNoiseMs = 15_000
/** Re-engage after this much silence, or half of the hang-up time if that is sooner. */
const reengageAfterMs = 10_000
/** Without a beep the message for a machine begins when its greeting has been over for this long, or has taken this long. */
const greetingOverMs = 2_500
const greetingMs = 30_000

export const deadlines = (floor: Floor): ReadonlyArray<Deadline> => {
  const found: Array<Deadline> = [{ name: "duration", at: floor.rules.maxDurationMs }]
  const { reply, rules, turn, voiceSince } = floor
  const words = turn === null ? "" : textOf(turn)

  if (turn !== null && voiceSince === null && floor.awaiting === 0 && reply === null && words !== "") {
    found.push({ name: "turnOver", at: turnOverAt(floor) })
  }
  if (voiceSince !== null && !floor.voiceIsNoise) {
    if (reply !== null && reply.yieldedAt === null && rules.interruptible) {
      found.push({ name: "bargeIn", at: voiceSince + yieldAfterMs[rules.interruptionSensitivity] })
    }
    if (rules.partials && words === "") {
      const yielded = reply?.yieldedAt ?? null
      found.push({ name: "noise", at: yielded === null ? voiceSince + longNoiseMs : yielded + noiseLimitMs })
    }
  } else if (turn !== null && reply !== null && reply.yieldedAt !== null) {
    found.push({ name: "noise", at: Math.max(turn.lastVoicedAt, reply.yieldedAt) + noiseLimitMs })
  }
  if (floor.machine !== null && !floor.machine.left)
    found.push({ name: "voicemail", at: messageDueAt(floor, floor.machine) })
  if (floor.digits !== null) found.push({ name: "digits", at: floor.digits.dueAt })
  if (reply === null && turn === null && (floor.machine === null || floor.machine.left)) {
    found.push({ name: "silence", at: floor.quietSince + rules.hangupAfterMs })
    if (rules.reengage && !floor.reengaged) {
      found.push({ name: "reengage", at: floor.quietSince + Math.min(reengageAfterMs, rules.hangupAfterMs / 2) })
    }
  }
  return found
}

/** End of the wait for the turn as it stands; only sensible while there is a turn. */
export const turnOverAt = (floor: Floor): number =>
  floor.turn === null ? 0 : floor.turn.lastVoicedAt + waitAfter(textOf(floor.turn), floor.rules)

/** When the message begins though no beep was heard. */
const messageDueAt = ({ lastVoice, voiceSince }: Floor, { since }: { readonly since: number }): number => {
  const late = since + greetingMs
  return voiceSince === null ? Math.min(late, Math.max(since, lastVoice?.until ?? 0) + greetingOverMs) : late
}

export const nextDeadline = (floor: Floor): Deadline | undefined =>
  floor.ended === null ? deadlines(floor).reduce((a, b) => (b.at < a.at ? b : a)) : undefined
