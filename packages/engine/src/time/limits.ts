// The limits of a call in time: its longest duration, and what silence on both sides leads to. Pure.
import type { ConversationRules } from "../CallPlan.ts"

/** `duration` ends the call, `silence` hangs up, `reengage` asks whether anybody is there. */
export type LimitName = "duration" | "silence" | "reengage"

/** One limit that becomes due. */
export interface Limit {
  readonly name: LimitName
  /** Milliseconds since the call began. */
  readonly at: number
}

/** What the limits depend on besides the rules. */
export interface Silence {
  /** Nobody has spoken since then, in milliseconds since the call began. */
  readonly quietSince: number
  /** The caller was already asked whether they are still there. */
  readonly reengaged: boolean
  /** Nobody speaks and nobody owes an answer. */
  readonly idle: boolean
}

/** Re-engage after this much silence, or half of the hang-up time if that is sooner. */
const reengageAfterMs = 10_000

/** `duration` always; `silence` (hang up) and `reengage` (ask once) only while nobody speaks. */
export const limits = (rules: ConversationRules, silence: Silence): ReadonlyArray<Limit> => {
  const found: Array<Limit> = [{ name: "duration", at: rules.maxDurationMs }]
  if (!silence.idle) return found
  found.push({ name: "silence", at: silence.quietSince + rules.hangupAfterMs })
  if (rules.reengage && !silence.reengaged) {
    found.push({ name: "reengage", at: silence.quietSince + Math.min(reengageAfterMs, rules.hangupAfterMs / 2) })
  }
  return found
}
