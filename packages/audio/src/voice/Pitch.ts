// Pitch of one window of voice by normalised autocorrelation, 60 to 400 Hz. The shortest lag that is nearly as good
// as the best one wins: multiples of a period are always good, and would halve the pitch.

/** The sample rate at which pitch is looked for. */
export const pitchRate = 8000
/** 40 ms: two periods of the deepest voice and a little more. */
export const pitchWindow = 320
const leastHz = 60
const mostHz = 400
const nearlyBest = 0.9

/** The pitch of one window. */
export interface Pitch {
  readonly hz: number
  /** 0 to 1: how alike two neighbouring periods are. Noise stays below 0.5. */
  readonly clarity: number
}

/** `pitchWindow` samples at `pitchRate`. */
export const pitchOf = (window: ArrayLike<number>): Pitch => {
  const shortest = Math.floor(pitchRate / mostHz)
  const longest = Math.ceil(pitchRate / leastHz)
  const likeness = new Float64Array(longest + 2)
  for (let lag = shortest - 1; lag <= longest + 1; lag++) likeness[lag] = likenessAt(window, lag)
  let best = 0
  for (let lag = shortest; lag <= longest; lag++) best = Math.max(best, likeness[lag]!)
  for (let lag = shortest; lag <= longest; lag++) {
    const here = likeness[lag]!
    const before = likeness[lag - 1]!
    const after = likeness[lag + 1]!
    if (here < nearlyBest * best || here < before || here < after) continue
    const bend = before - 2 * here + after
    const shift = bend === 0 ? 0 : (0.5 * (before - after)) / bend
    return { hz: pitchRate / (lag + Math.max(-0.5, Math.min(0.5, shift))), clarity: Math.min(1, here) }
  }
  return { hz: 0, clarity: 0 }
}

const likenessAt = (window: ArrayLike<number>, lag: number): number => {
  let product = 0
  let first = 0
  let second = 0
  for (let i = 0; i + lag < window.length; i++) {
    const a = window[i]!
    const b = window[i + lag]!
    product += a * b
    first += a * a
    second += b * b
  }
  return first === 0 || second === 0 ? 0 : product / Math.sqrt(first * second)
}
