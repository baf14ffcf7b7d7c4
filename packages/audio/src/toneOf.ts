// Which single tone a frame of 16 kHz sound consists of, if it does. Pure; some thousand multiplications for a frame
// that is loud, none to speak of for one that is not.

const rate = 16_000
/** Below it lies what remains of a voice's pitch, above it nothing that a machine beeps with. */
const lowest = 350
const highest = 2_600
/** Mean square below which a frame is silence: about -45 dBFS. */
const leastPower = 190 ** 2
/** Of the frame's energy at its one frequency; vowels stay below, a tone through G.711 well above. */
const leastPurity = 0.88

/** Hz of the one tone a frame consists of; 0 when it is something else. */
export const toneOf = (frame: Int16Array): number => {
  let power = 0
  let across = 0
  let square = 0
  for (let i = 1; i < frame.length - 1; i++) {
    const sample = frame[i] ?? 0
    across += sample * ((frame[i - 1] ?? 0) + (frame[i + 1] ?? 0))
    square += sample * sample
  }
  for (const sample of frame) power += sample * sample
  if (power / frame.length < leastPower) return 0
  // A sinusoid's neighbours sum to 2 cos(w) times itself. Noise makes that smaller and the frequency seem higher.
  const cosine = Math.min(1, Math.max(-1, across / (2 * square)))
  let best = (Math.acos(cosine) * rate) / (2 * Math.PI)
  if (best < lowest || best > highest + noiseHz) return 0
  let purest = purity(frame, best, power)
  const least = Math.max(best - noiseHz, lowest)
  for (let lower = best - stepHz; lower >= least; lower -= stepHz) {
    const pure = purity(frame, lower, power)
    if (pure <= purest) break
    purest = pure
    best = lower
  }
  return purest >= leastPurity && best >= lowest && best <= highest ? best : 0
}

const stepHz = 10
const noiseHz = 200

/** Share of the energy at one frequency (Goertzel). */
const purity = (frame: Int16Array, frequency: number, power: number): number => {
  const omega = (2 * Math.PI * frequency) / rate
  const cosine = Math.cos(omega)
  let last = 0
  let before = 0
  for (const sample of frame) {
    const now = sample + 2 * cosine * last - before
    before = last
    last = now
  }
  const real = last - before * cosine
  const imaginary = before * Math.sin(omega)
  return (2 * (real * real + imaginary * imaginary)) / (frame.length * power)
}
