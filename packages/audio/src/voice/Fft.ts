// Power spectrum of a short real window: radix 2, in place, tables made once per size.

/** Power of each band of a real signal of `size` samples, a power of two. */
export class PowerSpectrum {
  readonly size: number
  readonly #window: Float64Array
  readonly #cos: Float64Array
  readonly #sin: Float64Array
  readonly #real: Float64Array
  readonly #imaginary: Float64Array

  /** `size`: a power of two. */
  constructor(size: number) {
    this.size = size
    this.#window = Float64Array.from({ length: size }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / size))
    this.#cos = Float64Array.from({ length: size / 2 }, (_, n) => Math.cos((2 * Math.PI * n) / size))
    this.#sin = Float64Array.from({ length: size / 2 }, (_, n) => -Math.sin((2 * Math.PI * n) / size))
    this.#real = new Float64Array(size)
    this.#imaginary = new Float64Array(size)
  }

  /** Adds the power of each bin of the Hann-windowed samples to `sums` (`size / 2` bins). */
  addTo(sums: Float64Array, samples: ArrayLike<number>): void {
    const { size } = this
    const re = this.#real
    const im = this.#imaginary
    for (let i = 0; i < size; i++) re[i] = (samples[i] ?? 0) * this.#window[i]!
    im.fill(0)
    for (let i = 1, j = 0; i < size; i++) {
      let bit = size >> 1
      for (; j & bit; bit >>= 1) j ^= bit
      j ^= bit
      if (i < j) [re[i], re[j]] = [re[j]!, re[i]!]
    }
    for (let length = 2; length <= size; length *= 2) {
      const half = length / 2
      const stride = size / length
      for (let at = 0; at < size; at += length) {
        for (let k = 0; k < half; k++) {
          const cos = this.#cos[k * stride]!
          const sin = this.#sin[k * stride]!
          const low = at + k
          const high = low + half
          const real = re[high]! * cos - im[high]! * sin
          const imaginary = re[high]! * sin + im[high]! * cos
          re[high] = re[low]! - real
          im[high] = im[low]! - imaginary
          re[low] = re[low]! + real
          im[low] = im[low]! + imaginary
        }
      }
    }
    for (let i = 0; i < size / 2; i++) sums[i] = sums[i]! + re[i]! ** 2 + im[i]! ** 2
  }
}
