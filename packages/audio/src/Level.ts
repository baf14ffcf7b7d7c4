// How loud samples are, and keeping them from clipping. Levels are relative to full scale: 1 is the
// largest sample 16 bits can hold, 0 dBFS its decibels.

const fullScale = 32768

/** What `dBFS` gives for silence. */
const silenceDbfs = -120

/** Largest magnitude, 0 to 1. */
export const peak = (samples: Int16Array): number => {
  let most = 0
  for (let i = 0; i < samples.length; i++) {
    const magnitude = samples[i]! < 0 ? -samples[i]! : samples[i]!
    if (magnitude > most) most = magnitude
  }
  return most / fullScale
}

/** Decibels of a level between 0 and 1; `silenceDbfs` at the least. */
export const dbfs = (level: number): number =>
  level <= 0 ? silenceDbfs : Math.max(silenceDbfs, 20 * Math.log10(level))

/** The factor of a change in decibels. */
export const gainOf = (decibels: number): number => 10 ** (decibels / 20)

const knee = 0.8

/** A level of any size into -1..1: untouched up to 0.8, bent smoothly above, never reaching 1. */
export const limit = (level: number): number => {
  const magnitude = Math.abs(level)
  if (magnitude <= knee) return level
  const bent = knee + (1 - knee) * Math.tanh((magnitude - knee) / (1 - knee))
  return level < 0 ? -bent : bent
}

/** Louder or softer in place, with peaks bent by `limit` instead of cut. Returns the same array. */
export const amplify = (samples: Int16Array, gain: number): Int16Array => {
  const straight = knee * fullScale
  for (let i = 0; i < samples.length; i++) {
    const value = samples[i]! * gain
    samples[i] = Math.round(
      value <= straight && value >= -straight ? value : Math.min(32767, limit(value / fullScale) * fullScale)
    )
  }
  return samples
}
