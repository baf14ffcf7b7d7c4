// Puts the windows of all streams into batches and the probabilities back to their streams. Plain calls and one
// timer; a batch in flight is matched with its answer by order.
import { windowSamples } from "../ports/VoiceActivity.ts"
import type { SileroBatch } from "./SileroBatch.ts"

type OnWindow = (probability: number, endSample: number) => void

/** Up to this many streams a window leaves at once; above, batching pays for the wait. */
const fewStreams = 4
const gatherMs = 5
/** Windows per message at most, so that none waits behind a long batch. */
const largestBatch = 64
/** Windows in flight (about 3 s of 20 streams) above which new ones are dropped. */
const mostInFlight = 2000

/** All streams of one thread. Every call is synchronous and runs on the media thread. */
export class WindowGatherer {
  readonly #streams = new Map<number, { readonly onWindow: OnWindow; endSample: number }>()
  readonly #windows = new Int16Array(largestBatch * windowSamples)
  readonly #ids = new Uint32Array(largestBatch)
  readonly #ends = new Float64Array(largestBatch)
  #count = 0
  #closed: Array<number> = []
  #inFlight: Array<{ readonly ids: Uint32Array; readonly ends: Float64Array }> = []
  #inFlightWindows = 0
  #timer: NodeJS.Timeout | undefined
  #nextId = 0
  #post: ((batch: SileroBatch) => void) | undefined

  get isConnected(): boolean {
    return this.#post !== undefined
  }

  /** The thread is there; batches go to `post`. */
  connect(post: (batch: SileroBatch) => void): void {
    this.#post = post
  }

  /** The thread is gone, and with it every batch in flight. */
  disconnect(): void {
    this.#post = undefined
    this.#inFlight = []
    this.#inFlightWindows = 0
    this.#count = 0
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  open(onWindow: OnWindow): number {
    const id = this.#nextId++
    this.#streams.set(id, { onWindow, endSample: 0 })
    return id
  }

  close(id: number): void {
    this.#streams.delete(id)
    this.#closed.push(id)
  }

  /** Copies `window`. */
  add(id: number, window: Int16Array): void {
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    stream.endSample += windowSamples
    if (this.#post === undefined || this.#inFlightWindows + this.#count >= mostInFlight) return
    this.#windows.set(window, this.#count * windowSamples)
    this.#ids[this.#count] = id
    this.#ends[this.#count] = stream.endSample
    this.#count++
    if (this.#streams.size <= fewStreams || this.#count === largestBatch) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), gatherMs)
  }

  answered(probabilities: Float32Array): void {
    const batch = this.#inFlight.shift()
    if (batch === undefined) return
    this.#inFlightWindows -= batch.ids.length
    for (const [i, id] of batch.ids.entries()) {
      this.#streams.get(id)?.onWindow(probabilities[i]!, batch.ends[i]!)
    }
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#count === 0 || this.#post === undefined) return
    const streams = this.#ids.slice(0, this.#count)
    const windows = this.#windows.slice(0, this.#count * windowSamples)
    this.#inFlight.push({ ids: streams.slice(), ends: this.#ends.slice(0, this.#count) })
    this.#inFlightWindows += this.#count
    this.#count = 0
    const closed = this.#closed
    this.#closed = []
    this.#post({ streams, windows, closed })
  }
}
