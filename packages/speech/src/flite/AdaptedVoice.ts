// What of a learnt voice the embedded engine can take on: the nearest of its own voices, with that pitch, spread,
// pace, length of vocal tract and colour. Resampling by the tract's scale moves pitch and time too, so the engine
// is asked for the opposite of that first. Adapted, not cloned: nobody is recognised by it.
import { colourBandsHz } from "@parley/audio/voice/VoiceProfile"
import type { VoiceProfile } from "@parley/audio/voice/VoiceProfile"

/** An embedded voice and how it is bent. */
export interface AdaptedVoice {
  readonly voice: string
  /** `undefined` where the voice has one pitch only. */
  readonly pitch: { readonly meanHz: number; readonly spreadHz: number } | undefined
  /** Longer (above 1) or shorter speech than the voice's own, before the resampling. */
  readonly stretch: number
  /** Formants are scaled by this many hundredths. */
  readonly tractPercent: number
  /** dB per band of `colourBandsHz`; `undefined` for none. */
  readonly colour: ReadonlyArray<number> | undefined
}

interface BaseVoice {
  readonly id: string
  /** Median, measured with `VoiceListener` on running text. */
  readonly pitchHz: number
  /** False: it does not follow a wished pitch. */
  readonly tunable: boolean
}

const baseVoices: ReadonlyArray<BaseVoice> = [
  { id: "slt", pitchHz: 169, tunable: true },
  { id: "awb", pitchHz: 128, tunable: true },
  { id: "rms", pitchHz: 101, tunable: false },
  { id: "kal16", pitchHz: 88, tunable: true }
]

/** From here on the female voice is nearer. */
const highPitchHz = 150
/** A voice of one pitch serves pitches this near. */
const untunedHz = 5
/** The voices smooth the spread they are asked for. */
const spreadFactor = 1.6

/** A `preferred` voice of the engine is taken where its pitch is on the profile's side and can be reached. */
export const adaptedVoice = (profile: VoiceProfile, preferred: string): AdaptedVoice => {
  const tractPercent = Math.round(100 * clamp(profile.tract, 0.93, 1.07))
  const tract = tractPercent / 100
  const meanHz = clamp(profile.pitchHz / tract, 60, 350)
  const fitting = baseVoices.filter(
    ({ pitchHz, tunable }) =>
      pitchHz >= highPitchHz === meanHz >= highPitchHz && (tunable || Math.abs(pitchHz - meanHz) <= untunedHz)
  )
  const nearest = fitting.toSorted((a, b) => distance(a, meanHz) - distance(b, meanHz))[0] ?? baseVoices[0]!
  const base = fitting.find(({ id }) => id === preferred) ?? nearest
  const spreadHz = clamp((spreadFactor * profile.pitchSpreadHz) / tract, 4, 0.35 * meanHz)
  const colour = colourBandsHz.map((_, band) => clamp(profile.colour[band] ?? 0, -10, 10))
  return {
    voice: base.id,
    pitch: base.tunable ? { meanHz, spreadHz } : undefined,
    stretch: tract / clamp(profile.pace, 0.7, 1.4),
    tractPercent,
    colour: colour.some((gain) => Math.abs(gain) >= 0.5) ? colour : undefined
  }
}

const distance = (voice: BaseVoice, pitchHz: number): number => Math.abs(Math.log(voice.pitchHz / pitchHz))

const clamp = (value: number, low: number, high: number): number =>
  Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : low
