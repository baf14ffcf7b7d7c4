// Finds single tones, such as an answering machine's beep, in 16 kHz speech. A frame is a tone when nearly all of its
// energy lies at one frequency; a run of such frames at one frequency, long enough and not too long, is a beep, told
// when it is over. Plain calls on the media thread: some thousand multiplications for a frame that is loud.
import { toneOf } from "./toneOf.ts"

export interface Tone {
  /** Hz. */
  readonly frequency: number
  readonly durationMs: number
}

const frameMs = 20
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
