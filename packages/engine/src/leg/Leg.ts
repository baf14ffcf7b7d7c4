// One side of a call: source and sink of sound and of small messages. A transport makes it, a
// conversation owns it. Sound crosses by plain calls on the media thread; nothing here waits.
// A leg outlives reconnects of its client: while the network is away it hears nothing and plays into
// the void, and only when its grace is over does it report `lost`.
import type { AgentEvent, AgentState, ClientEvent } from "@parley/contract/ClientEvent"
import type { EndReason } from "@parley/contract/EndReason"

/** Caller audio as the engine hears it: mono 16 kHz, 20 ms. */
export const hearingRate = 16_000
/** Length of a frame on both ways. */
export const frameMs = 20

/** Who is told of what the far side does. Called on the media thread; nothing may wait. */
export interface LegListener {
  /** One decoded frame of 320 samples at 16 kHz. The array is the leg's own and reused: copy what is kept. */
  readonly onFrame: (samples: Int16Array) => void
  readonly onEvent: (event: ClientEvent) => void
  /** One DTMF digit (RFC 4733). */
  readonly onDigit: (digit: string) => void
  /** The far side left (`left`), stayed silent beyond the watchdog (`lost`), or the transport broke (`failed`). At most once. */
  readonly onClosed: (how: "left" | "lost" | "failed") => void
}

/** What the far side's client is told. A telephone has no client and ignores all of it. */
export type LegMessage =
  | { readonly _tag: "State"; readonly state: AgentState }
  /** Replaces the text told before for this segment. */
  | { readonly _tag: "UserTranscript"; readonly segmentId: string; readonly text: string; readonly final: boolean }
  /** Appends; paced to playback by the engine. */
  | { readonly _tag: "AgentDelta"; readonly segmentId: string; readonly delta: string }
  /** The segment's stream closes: final. */
  | { readonly _tag: "AgentDone"; readonly segmentId: string }
  | { readonly _tag: "Event"; readonly event: AgentEvent }

/** A telephone's own abilities: keys (RFC 4733) and transfer (REFER, RFC 3515). */
export interface Telephone {
  /** Keys for the far side's menus: `0-9*#A-D`, in order, one after the other. */
  readonly sendDigits: (digits: string) => void
  /** Cold transfer: the far side calls the target itself. `refused`: the call is still ours. Settles within 40 s. */
  readonly refer: (target: string, headers: Readonly<Record<string, string>>) => Promise<"transferred" | "refused">
}

/** The port of a transport: one far side, for the length of one call. */
export interface Leg {
  /** Rate of the frames this leg plays: 24000 on WebRTC, 8000 on G.711. */
  readonly playRate: number
  /** Called once; frames and events that came before are lost, except events, which the leg holds until now. */
  readonly attach: (listener: LegListener) => void
  /**
   * Called every 20 ms by the process's one tick: a frame of `playRate / 50` samples, or undefined for
   * silence. The array is the engine's own and reused.
   */
  readonly play: (frame: Int16Array | undefined) => void
  readonly tell: (message: LegMessage) => void
  /** What is played from now on is another person's voice. For those who listen. */
  readonly joined?: (() => void) | undefined
  /** What only a telephone can do; left out on other legs. */
  readonly telephone?: Telephone | undefined
  /** Say goodbye and release everything. Idempotent; `onClosed` is not called for it. */
  readonly close: (reason: EndReason) => void
}
