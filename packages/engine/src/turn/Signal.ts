// Everything that can happen in a call, for turn-taking to decide on: in the past tense. Times are in milliseconds
// since the call began, on the call's one clock.
import type { EndReason } from "@parley/contract/EndReason"

/** What `step` takes in. Journals store signals under these names, and replay them. */
export type Signal =
  | { readonly _tag: "CallStarted" }
  /** The caller's voice set in; `since` is its first voiced sample. */
  | { readonly _tag: "VoiceBegan"; readonly since: number }
  /** The voice paused; an utterance was committed to the recogniser and will be answered by one `Final`. */
  | { readonly _tag: "VoicePaused"; readonly lastVoicedAt: number }
  | { readonly _tag: "Partial"; readonly text: string }
  | { readonly _tag: "Final"; readonly text: string }
  /** The recogniser is gone and no other can serve. */
  | { readonly _tag: "HearingLost" }
  | { readonly _tag: "Typed"; readonly text: string; readonly spoken: boolean }
  | { readonly _tag: "Digit"; readonly digit: string }
  /** A single tone was over, as after an answering machine's greeting. */
  | { readonly _tag: "BeepHeard" }
  | { readonly _tag: "InterruptAsked" }
  | { readonly _tag: "ActivitySeen" }
  /** The first sample of a reply left for the caller (or its first text, for a text-only one). */
  | { readonly _tag: "ReplyStarted"; readonly reply: number }
  /** Everything there was to say has been heard. */
  | { readonly _tag: "ReplyEnded"; readonly reply: number }
  /** The model gave no answer. */
  | { readonly _tag: "ReplyFailed"; readonly reply: number }
  /** The agent decided to hang up once this reply is over. */
  | { readonly _tag: "HangUpDecided"; readonly reply: number }
  /** A background tool has news worth telling at the next pause. */
  | { readonly _tag: "NewsArrived" }
  /** A deadline has passed. */
  | { readonly _tag: "TimePassed" }
  | { readonly _tag: "EndAsked"; readonly reason: EndReason }
