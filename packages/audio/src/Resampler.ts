// Streaming change of sample rate: a polyphase Kaiser-windowed sinc. The output is aligned with the
// input (sample k of the output is the instant k / toRate), it is only held back by the filter's half
// length: 16 samples of the slower rate. How the input is cut into chunks never changes the output.
// Stop band below -80 dB from 1.08 of the slower Nyquist; flat to 0.76 of it, -0.7 dB at 0.85.

const zeroCrossings = 16
const kaiserBeta = 8
const cutoff = 0.92
const maxPhases = 1024

interface Filter {
  readonly phases: number
  readonly advance: number
  readonly half: number
  /** `phases` rows of `2 * half` taps; every row sums to 1. */
  readonly taps: Float32Array
}

/**
 * A stream from one rate into another (positive integers with a small ratio), in pieces of any length. What `process` returns is a view that the next
 * call overwrites.
 */
export class Resampler {
  readonly fromRate: number
  readonly toRate: number
  readonly #filter: Filter | undefined
  #held: Float32Array
  #heldCount = 0
  #phase = 0
  #taken = 0
  #given = 0
  #out = new Int16Array(0)

  /** Throws a `RangeError` for rates that are not positive integers or have no small ratio. */
  constructor(fromRate: number, toRate: number) {
    this.fromRate = fromRate
    this.toRate = toRate
    this.#filter = filterOf(fromRate, toRate)
    this.#held = new Float32Array(this.#filter === undefined ? 0 : 4 * this.#filter.half)
    this.#reset()
  }

  /**
   * All output that `input` makes possible. The returned array is a view that the next call overwrites;
   * when the rates are equal it is `input` itself. Copy what must outlive the call.
   */
  process(input: Int16Array): Int16Array {
    const filter = this.#filter
    if (filter === undefined) return input
    this.#taken += input.length
    this.#hold(input.length)
    const held = this.#held
    for (let i = 0; i < input.length; i++) held[this.#heldCount + i] = input[i]!
    this.#heldCount += input.length
    return this.#drain(filter, Number.POSITIVE_INFINITY)
  }

  /**
   * The end of the signal: what was held back, so that `n` samples in gave `ceil(n * toRate / fromRate)`
   * out. The resampler then begins anew. A reused view, as with `process`.
   */
  flush(): Int16Array {
    const filter = this.#filter
    if (filter === undefined) return this.#out
    const owed = Math.ceil((this.#taken * filter.phases) / filter.advance) - this.#given
    const silence = filter.half + 1
    this.#hold(silence)
    this.#held.fill(0, this.#heldCount, this.#heldCount + silence)
    this.#heldCount += silence
    const out = this.#drain(filter, owed)
    this.#reset()
    return out
  }

  #drain(filter: Filter, most: number): Int16Array {
    const { advance, half, phases, taps } = filter
    const width = 2 * half
    const possible = Math.max(0, Math.ceil(((this.#heldCount - width + 1) * phases - this.#phase) / advance))
    const count = Math.min(possible, most)
    if (this.#out.length < count) this.#out = new Int16Array(count + 64)
    const held = this.#held
    const out = this.#out
    const step = Math.floor(advance / phases)
    const stepPhase = advance % phases
    let base = 0
    let phase = this.#phase
    for (let k = 0; k < count; k++) {
      const row = phase * width
      let even = 0
      let odd = 0
      for (let j = 0; j < width; j += 2) {
        even += held[base + j]! * taps[row + j]!
        odd += held[base + j + 1]! * taps[row + j + 1]!
      }
      const value = even + odd
      out[k] = value > 32767 ? 32767 : value < -32768 ? -32768 : Math.round(value)
      base += step
      phase += stepPhase
      if (phase >= phases) {
        phase -= phases
        base++
      }
    }
    held.copyWithin(0, base, this.#heldCount)
    this.#heldCount -= base
    this.#phase = phase
    this.#given += count
    return out.subarray(0, count)
  }

  #hold(more: number): void {
    const needed = this.#heldCount + more
    if (needed <= this.#held.length) return
    const grown = new Float32Array(2 * needed)
    grown.set(this.#held.subarray(0, this.#heldCount))
    this.#held = grown
  }

  #reset(): void {
    const half = this.#filter?.half ?? 1
    this.#heldCount = half - 1
    this.#held.fill(0, 0, this.#heldCount)
    this.#phase = 0
    this.#taken = 0
    this.#given = 0
  }
}

/** A whole signal at once, as a fresh array of `ceil(n * toRate / fromRate)` samples. */
export const resample = (input: Int16Array, fromRate: number, toRate: number): Int16Array => {
  if (fromRate === toRate) return input.slice()
  const resampler = new Resampler(fromRate, toRate)
  const body = resampler.process(input)
  const out = new Int16Array(Math.ceil((input.length * toRate) / fromRate))
  out.set(body)
  out.set(resampler.flush(), body.length)
  return out
}

/** Tables are made once per ratio and process; uploaded recordings may ask for many. */
const mostFilters = 64
const filters = new Map<string, Filter>()

const filterOf = (fromRate: number, toRate: number): Filter | undefined => {
  if (!Number.isInteger(fromRate) || !Number.isInteger(toRate) || fromRate <= 0 || toRate <= 0) {
    throw new RangeError(`sample rates must be positive integers, got ${fromRate} and ${toRate}`)
  }
  if (fromRate === toRate) return undefined
  const divisor = greatestCommonDivisor(fromRate, toRate)
  const phases = toRate / divisor
  const advance = fromRate / divisor
  if (phases > maxPhases || advance > maxPhases) {
    throw new RangeError(`no small ratio between ${fromRate} and ${toRate} Hz`)
  }
  const key = `${phases}/${advance}`
  const known = filters.get(key)
  if (known !== undefined) return known
  const made = design(phases, advance)
  if (filters.size >= mostFilters) filters.delete(filters.keys().next().value ?? key)
  filters.set(key, made)
  return made
}

const design = (phases: number, advance: number): Filter => {
  const ratio = Math.min(1, phases / advance)
  const half = Math.ceil(zeroCrossings / ratio)
  const width = 2 * half
  const taps = new Float32Array(phases * width)
  for (let phase = 0; phase < phases; phase++) {
    const row = new Float64Array(width)
    let sum = 0
    for (let j = 0; j < width; j++) {
      const distance = j - half + 1 - phase / phases
      row[j] = sinc(cutoff * ratio * distance) * kaiser(distance / half)
      sum += row[j]!
    }
    for (let j = 0; j < width; j++) taps[phase * width + j] = row[j]! / sum
  }
  return { phases, advance, half, taps }
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))

const kaiser = (x: number): number =>
  Math.abs(x) >= 1 ? 0 : besselI0(kaiserBeta * Math.sqrt(1 - x * x)) / besselI0(kaiserBeta)

/** Modified Bessel function of the first kind, order 0, by its power series. */
const besselI0 = (x: number): number => {
  let term = 1
  let sum = 1
  for (let k = 1; term > 1e-12 * sum; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b))
