// One side's voice on its way to the other: 16 kHz frames in as they come, frames at the other's rate out on its tick.
// Holds a little against jitter and drops the oldest when the clocks drift apart. Plain calls on the media thread.
import { Resampler } from "@parley/audio/Resampler"
import { hearingRate } from "../leg/Leg.ts"

const heldMs = 200
/** Played on only when this much is there, so that one late frame is not heard. */
const startMs = 40

/** Filled by one side's frames, read by the other's tick; holds at most 200 ms. */
export class FrameRing {
  readonly #samples: Int16Array
  readonly #resampler: Resampler
  readonly #start: number
  #head = 0
  #count = 0
  #flowing = false

  constructor(rate: number) {
    this.#samples = new Int16Array((rate * heldMs) / 1000)
    this.#start = (rate * startMs) / 1000
    this.#resampler = new Resampler(hearingRate, rate)
  }

  push(frame: Int16Array): void {
    const out = this.#resampler.process(frame)
    const size = this.#samples.length
    for (const sample of out) {
      this.#samples[(this.#head + this.#count) % size] = sample
      if (this.#count < size) this.#count++
      else this.#head = (this.#head + 1) % size
    }
  }

  /** False when there is nothing to play. */
  read(frame: Int16Array): boolean {
    if (!this.#flowing && this.#count < this.#start) return false
    this.#flowing = this.#count >= frame.length
    if (!this.#flowing) return false
    const size = this.#samples.length
    for (let i = 0; i < frame.length; i++) frame[i] = this.#samples[(this.#head + i) % size] ?? 0
    this.#head = (this.#head + frame.length) % size
    this.#count -= frame.length
    return true
  }
}
