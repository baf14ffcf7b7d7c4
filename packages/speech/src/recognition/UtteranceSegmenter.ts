// Finds the utterances of a recording from the voice probability of each 32 ms window. Pure and deterministic:
// knows samples, never the time of day. What it holds is bounded by the longest utterance. Utterances are in
// order and never overlap, and every window with a voice is in one.
import { windowSamples } from "../ports/VoiceActivity.ts"

/** A stretch of speech, mono 16 kHz. */
export interface Utterance {
  /** Where it begins in the recording. */
  readonly startSample: number
  readonly samples: Int16Array
}

/** A voice begins above the first, and goes on above the second. */
const beginsAt = 0.5
const goesOnAt = 0.35
const windowsOf = (ms: number): number => Math.ceil((ms * 16) / windowSamples)
const leadWindows = windowsOf(200)
const trailWindows = windowsOf(300)
const pauseWindows = windowsOf(500)
const longestWindows = Math.floor((25_000 * 16) / windowSamples)
/** A longer utterance is cut at the quietest place of this last part. */
const searchWindows = windowsOf(8000)
/** Loudness is compared over this many windows, so that no single gap inside a word wins. */
const hushWindows = 5

/** The utterances of one recording, window by window. */
export class UtteranceSegmenter {
  /** The windows at hand: lead-in while nobody speaks, else the utterance so far. */
  #windows: Array<Int16Array> = []
  /** Number of the first one in the recording. */
  #first = 0
  #speaking = false
  #silent = 0

  /** One window, and the probability of a voice in it. The last one of a recording may be short. Keeps `window`. */
  push(window: Int16Array, probability: number): Utterance | undefined {
    this.#windows.push(window)
    if (!this.#speaking) {
      if (probability < beginsAt) {
        if (this.#windows.length > leadWindows) this.#drop(1)
        return undefined
      }
      this.#speaking = true
      this.#silent = 0
    }
    this.#silent = probability >= goesOnAt ? 0 : this.#silent + 1
    if (this.#silent >= pauseWindows) return this.#end()
    return this.#windows.length >= longestWindows ? this.#take(this.#quietest()) : undefined
  }

  /** The recording is over. */
  finish(): Utterance | undefined {
    if (!this.#speaking) return undefined
    return this.#end()
  }

  /** What follows the trail is the next utterance's lead. */
  #end(): Utterance {
    const utterance = this.#take(this.#windows.length - Math.max(0, this.#silent - trailWindows))
    this.#speaking = false
    if (this.#windows.length > leadWindows) this.#drop(this.#windows.length - leadWindows)
    return utterance
  }

  #take(count: number): Utterance {
    const taken = this.#windows.slice(0, count)
    const samples = new Int16Array(taken.reduce((sum, window) => sum + window.length, 0))
    let at = 0
    for (const window of taken) {
      samples.set(window, at)
      at += window.length
    }
    const startSample = this.#first * windowSamples
    this.#drop(count)
    return { startSample, samples }
  }

  #drop(count: number): void {
    this.#windows = this.#windows.slice(count)
    this.#first += count
  }

  /** Windows up to the middle of the quietest place. */
  #quietest(): number {
    const from = this.#windows.length - searchWindows
    const energies = this.#windows.slice(from).map(energyOf)
    let quietest = Number.POSITIVE_INFINITY
    let at = searchWindows
    for (let i = 0; i + hushWindows <= energies.length; i++) {
      const energy = energies.slice(i, i + hushWindows).reduce((sum, value) => sum + value, 0)
      if (energy > quietest) continue
      quietest = energy
      at = i + Math.ceil(hushWindows / 2)
    }
    return from + at
  }
}

/** Mean square of the samples; 0 of none. */
export const energyOf = (window: Int16Array): number => {
  let sum = 0
  for (const sample of window) sum += sample * sample
  return window.length === 0 ? 0 : sum / window.length
}
