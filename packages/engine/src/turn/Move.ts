// Everything that turn-taking can decide. The loop carries moves out at once and in order; none of them waits.
import type { AgentState } from "@parley/contract/ClientEvent"
import type { EndReason } from "@parley/contract/EndReason"

/** The sentences that the engine says by itself, without asking the model. */
export type Line = "hold" | "apology" | "reengage" | "farewell"

/** What a reply is to say. */
export type ReplyCause =
  | { readonly kind: "opening" }
  /** Answer the caller's turn; for a speculative reply `text` is what the turn holds so far. */
  | { readonly kind: "turn"; readonly turn: string; readonly text: string; readonly spoken: boolean }
  /** Tell what a background tool brought. */
  | { readonly kind: "news" }
  | { readonly kind: "line"; readonly line: Line }
  /** The message for an answering machine. */
  | { readonly kind: "voicemail" }

/** A decision of `step`. Journals store moves under these names: a name that is in use is not given a new meaning. */
export type Move =
  /** A speculative reply's frames are held until it is committed. */
  | { readonly _tag: "BeginReply"; readonly reply: number; readonly cause: ReplyCause; readonly speculative: boolean }
  | { readonly _tag: "CommitReply"; readonly reply: number }
  /** Close a speculative reply; it was never there. */
  | { readonly _tag: "DiscardReply"; readonly reply: number }
  /** Close a reply; what was heard of it stays. */
  | { readonly _tag: "StopReply"; readonly reply: number }
  /** Pause playing, keep everything: the caller may be interrupting. */
  | { readonly _tag: "PauseReply"; readonly reply: number }
  /** It was a cough: go on where it stopped. */
  | { readonly _tag: "ResumeReply"; readonly reply: number }
  /** The caller's turn, complete; the same turn again replaces it. */
  | { readonly _tag: "RecordTurn"; readonly turn: string; readonly text: string; readonly clocks: TurnClocks }
  | { readonly _tag: "ShowCaller"; readonly turn: string; readonly text: string; readonly final: boolean }
  | { readonly _tag: "ShowState"; readonly state: AgentState }
  | { readonly _tag: "End"; readonly reason: EndReason }

/** The moments of a turn from which its latency is measured; milliseconds since the call began. */
export interface TurnClocks {
  /** Last voiced sample received (or the moment of typing). */
  readonly lastVoicedAt: number
  /** The configured wait was over. */
  readonly waitedUntil: number
  /** Wait over and final text there. */
  readonly decidedAt: number
}
