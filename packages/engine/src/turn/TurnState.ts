// The state of turn-taking: who speaks, what the caller's turn holds so far, which reply is out.
// Plain data, replaced and never mutated from outside; a journal of signals rebuilds it exactly.
import type { AgentState } from "@parley/contract/ClientEvent"
import type { EndReason } from "@parley/contract/EndReason"
import type { ConversationRules, FirstMessage } from "../CallPlan.ts"
import type { ReplyCause } from "./Move.ts"

/** Everything that `step` decides by. All times in milliseconds since the call began. */
export interface TurnState {
  readonly rules: TurnRules
  /** First voiced sample of the running voice, null while the caller is quiet. */
  readonly voiceSince: number | null
  /** The running voice was already judged to be noise. */
  readonly voiceIsNoise: boolean
  /** The last voice that was over. */
  readonly lastVoice: { readonly since: number; readonly until: number } | null
  /** The far side is an answering machine since then; `left` once its message was begun. */
  readonly voicemail: { readonly since: number; readonly left: boolean } | null
  /** Utterances committed to the recogniser and not yet answered. */
  readonly awaiting: number
  readonly turn: CallerTurn | null
  /** The turn being answered, to be reopened when the caller goes on before hearing anything. */
  readonly answered: { readonly id: string; readonly words: ReadonlyArray<string> } | null
  readonly reply: ActiveReply | null
  readonly speculative: SpeculativeReply | null
  readonly digits: { readonly text: string; readonly dueAt: number } | null
  /** Nobody has spoken since. */
  readonly quietSince: number
  readonly reengaged: boolean
  /** Turns in a row that the model left unanswered. */
  readonly failures: number
  /** To end with this reason when the reply out now is over. */
  readonly ending: EndReason | null
  readonly newsWaiting: boolean
  readonly turns: number
  readonly replies: number
  readonly ended: EndReason | null
}

/** One caller's turn: one or more utterances until the wait is over. */
export interface CallerTurn {
  readonly id: string
  readonly words: ReadonlyArray<string>
  readonly partial: string
  readonly lastVoicedAt: number
  readonly speculations: number
  /** False only for a typed turn that asks for a silent answer. */
  readonly spoken: boolean
}

/** The reply that is out: committed, and not yet closed. */
export interface ActiveReply {
  readonly id: number
  readonly kind: ReplyCause["kind"]
  /** Its first sample has left: it can no longer be undone. */
  readonly heard: boolean
  /** Paused since then because the caller may be interrupting. */
  readonly pausedAt: number | null
  /** A re-engage line does not count as somebody speaking. */
  readonly countsAsQuiet: boolean
}

/** An answer begun before the turn is over; its sound is held until it is committed. */
export interface SpeculativeReply {
  readonly id: number
  readonly text: string
}

/** The plan's rules, with what else turn-taking depends on. */
export interface TurnRules extends ConversationRules {
  readonly firstMessage: FirstMessage["mode"]
  /** The recogniser tells words while they are spoken. */
  readonly partials: boolean
}

/** The state before the first signal. */
export const initial = (rules: TurnRules): TurnState => ({
  rules,
  voiceSince: null,
  voiceIsNoise: false,
  lastVoice: null,
  voicemail: null,
  awaiting: 0,
  turn: null,
  answered: null,
  reply: null,
  speculative: null,
  digits: null,
  quietSince: 0,
  reengaged: false,
  failures: 0,
  ending: null,
  newsWaiting: false,
  turns: 0,
  replies: 0,
  ended: null
})

/** Committed words, then what the recogniser still revises. */
export const textOf = (turn: CallerTurn): string => [...turn.words, turn.partial].filter((w) => w !== "").join(" ")

/** The agent's state as the client is shown it. */
export const agentStateOf = (state: TurnState): AgentState =>
  state.reply === null || state.reply.pausedAt !== null ? "listening" : state.reply.heard ? "speaking" : "thinking"
