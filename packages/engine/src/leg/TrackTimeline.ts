// Where the frames of one recorded side go on the clock of the call. Frames that follow each other stay together over
// the jitter of a network; a hole becomes silence, and what came twice (silence filled in, then the late sound) is
// taken back out of pauses, so that two tracks stay within two frames of each other however long the call is. Filled
// on the media thread, handed on in batches; nothing is allocated.
const toleranceMs = 25
/** Behind the clock by more than this is a hole at once; by less, when it stays so for `settleFrames`. */
const holeMs = 120
const settleFrames = 25
/** Ahead by more than this, even speech is left out. */
const mostAheadMs = 400
/** Sound may still come for what is younger than this. */
const graceMs = 200
const batchMs = 500
/** Samples below this are a pause. */
const quiet = 300

/** `silence` samples of nothing, then `samples`, a view that is reused. */
export type OnBatch = (silence: number, samples: Int16Array) => void

/** One track. Positions and times in milliseconds since the start of the call; `rate` in samples per second. */
export class TrackTimeline {
  readonly rate: number
  readonly #onBatch: OnBatch
  readonly #batch: Int16Array
  #filled = 0
  /** Of what comes before the batch. */
  #silence = 0
  /** Samples placed so far. */
  #end = 0
  #late = 0
  #resting = true

  constructor(rate: number, onBatch: OnBatch) {
    this.rate = rate
    this.#onBatch = onBatch
    this.#batch = new Int16Array(rate)
  }

  get positionMs(): number {
    return (this.#end * 1000) / this.rate
  }

  /** A frame whose first sample belongs to `atMs` since the start of the call. */
  place(frame: Int16Array, atMs: number): void {
    const behind = this.#at(atMs) - this.#end
    if (behind > this.#samples(holeMs) || (this.#resting && behind > 0)) this.#pad(behind)
    else if (behind > this.#samples(toleranceMs)) {
      if (++this.#late >= settleFrames) this.#pad(behind)
    } else {
      this.#late = 0
      if (-behind > this.#samples(mostAheadMs)) return
      if (-behind > this.#samples(toleranceMs) && isQuiet(frame)) return
    }
    this.#resting = false
    this.#append(frame)
  }

  /** This side is silent on purpose: what comes next is placed by the clock. */
  rest(): void {
    this.#resting = true
  }

  /** Time went by: what is missing and old enough is silence, and what makes a batch is handed on. */
  advance(nowMs: number): void {
    const missing = this.#at(nowMs - graceMs) - this.#end
    if (missing > 0) this.#pad(missing)
    if (this.#filled >= this.#samples(batchMs)) this.#flush()
  }

  /** The call ended at `nowMs`. */
  finish(nowMs: number): void {
    const missing = this.#at(nowMs) - this.#end
    if (missing > 0) this.#pad(missing)
    this.#flush()
  }

  #append(frame: Int16Array): void {
    if (this.#filled + frame.length > this.#batch.length) this.#flush()
    this.#batch.set(frame, this.#filled)
    this.#filled += frame.length
    this.#end += frame.length
  }

  #pad(samples: number): void {
    this.#late = 0
    this.#end += samples
    if (this.#filled + samples > this.#batch.length) {
      this.#flush()
      this.#silence = samples
      return
    }
    this.#batch.fill(0, this.#filled, this.#filled + samples)
    this.#filled += samples
  }

  #flush(): void {
    if (this.#silence === 0 && this.#filled === 0) return
    this.#onBatch(this.#silence, this.#batch.subarray(0, this.#filled))
    this.#silence = 0
    this.#filled = 0
  }

  #at(ms: number): number {
    return Math.round((ms * this.rate) / 1000)
  }

  #samples(ms: number): number {
    return (ms * this.rate) / 1000
  }
}

const isQuiet = (frame: Int16Array): boolean => {
  for (let i = 0; i < frame.length; i++) if (frame[i]! > quiet || frame[i]! < -quiet) return false
  return true
}
