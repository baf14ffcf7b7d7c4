// What can be heard of a speaker without a neural model: enough to bend an embedded voice towards a recording,
// not enough to be that person. A profile is JSON.

/** A voice in a few numbers. */
export interface VoiceProfile {
  /** Median pitch of the voiced parts in Hz. */
  readonly pitchHz: number
  /** Standard deviation of the pitch in Hz. */
  readonly pitchSpreadHz: number
  /** Pace relative to the embedded voices' own, 0.7 to 1.4. */
  readonly pace: number
  /** Scale of the vocal tract, 0.93 to 1.07; below 1 is a longer one. Guessed from the pitch. */
  readonly tract: number
  /**
   * Colour: gain in dB (-10 to 10) of each band of `colourBandsHz` against the embedded voices' mean spectrum, at
   * the same overall level.
   */
  readonly colour: ReadonlyArray<number>
}

/** Centre frequencies of `VoiceProfile.colour`. */
export const colourBandsHz = [125, 200, 315, 500, 800, 1250, 2000, 3150, 5000, 7000] as const
