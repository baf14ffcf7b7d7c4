// Tones to say and to recognise: the amplitude of one frequency tells who is heard, and how loud.
export const makeTone = (rate: number, hz: number, amplitude: number) => {
  let phase = 0
  const step = (2 * Math.PI * hz) / rate
  return (samples: number): Int16Array => {
    const out = new Int16Array(samples)
    for (let i = 0; i < samples; i++) {
      out[i] = Math.round(32_767 * amplitude * Math.sin(phase))
      phase += step
    }
    return out
  }
}

/** Amplitude (0-1) of `hz` in the samples. */
export const level = (samples: Int16Array, rate: number, hz: number): number => {
  let re = 0
  let im = 0
  for (let i = 0; i < samples.length; i++) {
    re += (samples[i] ?? 0) * Math.cos((2 * Math.PI * hz * i) / rate)
    im += (samples[i] ?? 0) * Math.sin((2 * Math.PI * hz * i) / rate)
  }
  return samples.length === 0 ? 0 : (2 * Math.hypot(re, im)) / samples.length / 32_767
}

/** The last `seconds` of a stream of frames. */
export class Recent {
  readonly rate: number
  readonly #ring: Int16Array
  #at = 0
  #total = 0

  constructor(rate: number, seconds = 0.5) {
    this.rate = rate
    this.#ring = new Int16Array(rate * seconds)
  }

  push(samples: Int16Array): void {
    for (const sample of samples) {
      this.#ring[this.#at] = sample
      this.#at = (this.#at + 1) % this.#ring.length
    }
    this.#total += samples.length
  }

  clear(): void {
    this.#ring.fill(0)
    this.#total = 0
  }

  level(hz: number): number {
    if (this.#total < this.#ring.length) return 0
    const ordered = new Int16Array(this.#ring.length)
    ordered.set(this.#ring.subarray(this.#at))
    ordered.set(this.#ring.subarray(0, this.#at), this.#ring.length - this.#at)
    return level(ordered, this.rate, hz)
  }
}

export const until = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 10_000
): Promise<void> => {
  const end = performance.now() + timeoutMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
