// The port of voice activity: how likely it is that each 32 ms window holds a voice. What that means
// for the floor is decided elsewhere.
import type { Effect, Scope } from "effect"
import type { SpeechError } from "./SpeechError.ts"

/** Samples per window at 16 kHz (32 ms). */
export const windowSamples = 512

/** Plain calls from the media plane; after the end of the scope they do nothing. */
export interface VoiceActivityStream {
  /** Mono 16 kHz PCM of any length; windows are cut inside. Copies what it keeps; never blocks. */
  readonly push: (samples: Int16Array) => void
}

/** The port of voice activity. `open` fails with `Timeout` or `Unavailable`; windows come in order, none after the scope closed. */
export interface VoiceActivity {
  readonly provider: string
  /** `onWindow` gets each window's probability (0 to 1) and the count of samples pushed up to that window's end. */
  readonly open: (
    onWindow: (probability: number, endSample: number) => void
  ) => Effect.Effect<VoiceActivityStream, SpeechError, Scope.Scope>
}
