// One loudness for all voices: a slow gain towards -20 dBFS of gated running RMS. It looks only backwards, so it adds
// no delay; it decides once per 10 ms of sound counted from the first sample, so how blocks are cut changes nothing.
import { dbfs, gainOf, limit } from "./Level.ts"

const targetDbfs = -20
/** Quieter than this is a pause: it neither counts nor moves the gain. */
const gateDbfs = -50
const mostGainDb = 12
/** How fast the running level forgets, in seconds of voice, once it has heard that much. */
const memorySeconds = 1.5
/** Until this much voice was heard the gain moves faster: the first word is not left behind. */
const settleSeconds = 0.4
const slowDbPerSecond = 6
const fastDbPerSecond = 30
const stepsPerSecond = 100

/** One stream of 16-bit samples, changed in place. */
export class Leveller {
  readonly #stepSamples: number
  #sum = 0
  #count = 0
  /** Running mean square of voiced steps. */
  #power = 0
  #voicedSteps = 0
  #gainDb = 0
  /** Gain at the begin and at the end of the running step: it glides between them. */
  #from = 1
  #to = 1

  constructor(sampleRate: number) {
    this.#stepSamples = Math.max(1, Math.round(sampleRate / stepsPerSecond))
  }

  /** Gain of now, decibels. */
  get gainDb(): number {
    return this.#gainDb
  }

  /** In place; peaks are bent by `limit`. Returns the same array. */
  process(samples: Int16Array): Int16Array {
    for (let i = 0; i < samples.length; i++) {
      const value = samples[i]! / 32768
      const gain = this.#from + ((this.#to - this.#from) * this.#count) / this.#stepSamples
      this.#sum += value * value
      samples[i] = Math.max(-32768, Math.min(32767, Math.round(limit(value * gain) * 32768)))
      if (++this.#count === this.#stepSamples) this.#step()
    }
    return samples
  }

  #step(): void {
    const power = this.#sum / this.#stepSamples
    this.#sum = 0
    this.#count = 0
    this.#from = this.#to
    if (dbfs(Math.sqrt(power)) < gateDbfs) return
    this.#voicedSteps++
    const weight = 1 / Math.min(this.#voicedSteps, memorySeconds * stepsPerSecond)
    this.#power += (power - this.#power) * weight
    const wanted = targetDbfs - dbfs(Math.sqrt(this.#power))
    const bounded = Math.max(-mostGainDb, Math.min(mostGainDb, wanted))
    const fast = this.#voicedSteps < settleSeconds * stepsPerSecond
    const most = (fast ? fastDbPerSecond : slowDbPerSecond) / stepsPerSecond
    this.#gainDb += Math.max(-most, Math.min(most, bounded - this.#gainDb))
    this.#to = gainOf(this.#gainDb)
  }
}
