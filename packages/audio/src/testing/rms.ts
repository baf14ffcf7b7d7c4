// The loudness of a whole signal, for tests that compare signals.

/** Root mean square, 0 to 1. A full-scale sine has 0.707. 0 for an empty array. */
export const rms = (samples: Int16Array): number => {
  if (samples.length === 0) return 0
  let sum = 0
  for (let i = 0; i < samples.length; i++) sum += samples[i]! * samples[i]!
  return Math.sqrt(sum / samples.length) / 32768
}
