// A voice beyond an engine's own ones: what was given, and what was learnt, of a speaker. An engine that clones
// uses the references, one that adapts uses the profile, any other ignores both.
import type { VoiceProfile } from "@parley/audio/voice/VoiceProfile"

/** A speaker to be imitated. */
export interface VoiceCharacter {
  /** Names the same references and profile for ever: a key for caches. */
  readonly id: string
  readonly references: ReadonlyArray<VoiceReference>
  readonly profile: VoiceProfile | undefined
}

/** A recording of the speaker. */
export interface VoiceReference {
  /** Path of a mono 16-bit WAV file. */
  readonly file: string
  /** What is said in it. */
  readonly text: string
}
