// The colour of a voice as a filter: a gain per band of `colourBandsHz` to a short linear-phase FIR, and the filter
// that applies it to a stream. Output is aligned with the input; how the input is cut changes nothing.
import { gainOf, limit } from "../Level.ts"
import { colourBandsHz } from "./VoiceProfile.ts"

/** Odd, so that the delay is a whole number of samples. */
const colourTaps = 129
const gridSize = 512

/**
 * Taps for gains in dB, one per band of `colourBandsHz`; between bands the gain is straight in dB over the
 * logarithm of frequency, beyond them it stays. Throws a `RangeError` for another number of gains.
 */
export const colourFilter = (gainsDb: ReadonlyArray<number>, sampleRate: number): Float32Array => {
  if (gainsDb.length !== colourBandsHz.length) throw new RangeError(`${colourBandsHz.length} gains are needed`)
  const grid = Float64Array.from({ length: gridSize / 2 + 1 }, (_, k) =>
    gainOf(gainAt(gainsDb, (k * sampleRate) / gridSize))
  )
  const half = (colourTaps - 1) / 2
  return Float32Array.from({ length: colourTaps }, (_, n) => {
    const distance = n - half
    let sum = grid[0]! + grid[gridSize / 2]! * Math.cos(Math.PI * distance)
    for (let k = 1; k < gridSize / 2; k++) sum += 2 * grid[k]! * Math.cos((2 * Math.PI * k * distance) / gridSize)
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / (half + 1))
    return (sum / gridSize) * window
  })
}

const gainAt = (gainsDb: ReadonlyArray<number>, hz: number): number => {
  const above = colourBandsHz.findIndex((band) => band >= hz)
  if (above === -1) return gainsDb.at(-1)!
  if (above === 0) return gainsDb[0]!
  const low = colourBandsHz[above - 1]!
  const share = Math.log(hz / low) / Math.log(colourBandsHz[above]! / low)
  return gainsDb[above - 1]! * (1 - share) + gainsDb[above]! * share
}

/** Symmetric taps of odd number over a stream of mono samples; peaks are bent by `limit`. */
export class FirFilter {
  readonly #taps: Float32Array
  readonly #half: number
  #held: Float32Array

  constructor(taps: Float32Array) {
    if (taps.length % 2 === 0) throw new RangeError("an odd number of taps is needed")
    this.#taps = taps
    this.#half = (taps.length - 1) / 2
    this.#held = new Float32Array(this.#half)
  }

  /** A fresh array: what `samples` made possible, half the taps behind. */
  process(samples: Int16Array): Int16Array {
    return this.#filter(Float32Array.from(samples))
  }

  /** The rest, so that as many samples came out as went in. The filter then begins anew. */
  flush(): Int16Array {
    const rest = this.#filter(new Float32Array(this.#half))
    this.#held = new Float32Array(this.#half)
    return rest
  }

  #filter(fresh: Float32Array): Int16Array {
    const taps = this.#taps
    const all = new Float32Array(this.#held.length + fresh.length)
    all.set(this.#held)
    all.set(fresh, this.#held.length)
    const count = Math.max(0, all.length - taps.length + 1)
    const out = new Int16Array(count)
    for (let i = 0; i < count; i++) {
      let sum = 0
      for (let j = 0; j < taps.length; j++) sum += all[i + j]! * taps[j]!
      out[i] = Math.max(-32768, Math.min(32767, Math.round(limit(sum / 32768) * 32768)))
    }
    this.#held = all.slice(count)
    return out
  }
}
