// From voice probabilities to "the voice set in" and "the voice paused": hysteresis over 32 ms windows,
// pure. Positions in samples at 16 kHz since the call's first.
import { windowSamples } from "@parley/speech/ports/VoiceActivity"

/** The state between two windows; positions in samples at 16 kHz. */
export interface Voicing {
  readonly voiced: boolean
  /** Windows in a row against the present state. */
  readonly run: number
  /** Where that run began. */
  readonly runStart: number
  readonly lastVoiced: number
}

/** A voice set in or paused; positions of the first and the last voiced sample. */
export type VoicingChange =
  | { readonly _tag: "Began"; readonly since: number }
  | { readonly _tag: "Paused"; readonly lastVoiced: number }

const beginAt = 0.5
const endBelow = 0.35
/** Two windows (64 ms) begin a voice: a click is shorter. */
const beginWindows = 2

/**
 * `pauseWindows` windows without voice make a pause. Two (64 ms) let a speculative reply start early;
 * the voice may come back, the turn then simply goes on.
 */
export const step = (
  state: Voicing,
  probability: number,
  endSample: number,
  pauseWindows: number
): readonly [Voicing, VoicingChange | null] => {
  const start = endSample - windowSamples
  if (!state.voiced) {
    if (probability < beginAt) return [{ ...state, run: 0 }, null]
    const run = state.run + 1
    const runStart = state.run === 0 ? start : state.runStart
    if (run < beginWindows) return [{ ...state, run, runStart }, null]
    return [
      { voiced: true, run: 0, runStart, lastVoiced: endSample },
      { _tag: "Began", since: runStart }
    ]
  }
  if (probability >= endBelow) return [{ ...state, run: 0, lastVoiced: endSample }, null]
  const run = state.run + 1
  if (run < pauseWindows) return [{ ...state, run }, null]
  return [
    { ...state, voiced: false, run: 0 },
    { _tag: "Paused", lastVoiced: state.lastVoiced }
  ]
}

/** Before the first window. */
export const quiet: Voicing = { voiced: false, run: 0, runStart: 0, lastVoiced: 0 }
