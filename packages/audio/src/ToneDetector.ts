// Finds single tones, such as an answering machine's beep, in 16 kHz speech. A frame is a tone when nearly all of its
// energy lies at one frequency; a run of such frames at one frequency, long enough and not too long, is a beep, told
// when it is over. Plain calls on the media thread: some thousand multiplications for a frame that is loud.

export interface Tone {
  /** Hz. */
  readonly frequency: number
  readonly durationMs: number
}

const rate = 16_000
const frameMs = 20
/** Below it lies what remains of a voice's pitch, above it nothing that a machine beeps with. */
const lowest = 350
const highest = 2_600
/** Mean square below which a frame is silence: about -45 dBFS. */
const leastPower = 190 ** 2
/** Of the frame's energy at its one frequency; vowels stay below, a tone through G.711 well above. */
const leastPurity = 0.88
const leastFrames = 8
/** Longer ones are dial tones, fax machines and music on hold. */
const mostFrames = 130

/** Frames of 20 ms at 16 kHz in; told of each tone when it is over. */
export class ToneDetector {
  private readonly onTone: (tone: Tone) => void
  private frames = 0
  private frequency = 0
  /** One frame that is no tone does not end it. */
  private missed = 0

  constructor(onTone: (tone: Tone) => void) {
    this.onTone = onTone
  }

  /** 320 samples at 16 kHz. */
  hear(frame: Int16Array): void {
    const frequency = toneOf(frame)
    if (frequency > 0 && this.frames > 0 && Math.abs(frequency - this.frequency) < 0.04 * this.frequency) {
      this.frames += 1 + this.missed
      this.missed = 0
      return
    }
    if (this.frames > 0 && frequency === 0 && this.missed === 0) {
      this.missed = 1
      return
    }
    if (this.frames >= leastFrames && this.frames <= mostFrames) {
      this.onTone({ frequency: this.frequency, durationMs: this.frames * frameMs })
    }
    this.frames = frequency > 0 ? 1 : 0
    this.frequency = frequency
    this.missed = 0
  }
}

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
