import { describe, expect, it } from "vitest"
import { resample, Resampler } from "../src/Resampler.ts"

const tone = (hz: number, rate: number, samples: number, amplitude = 16000): Int16Array =>
  Int16Array.from({ length: samples }, (_, i) => Math.round(amplitude * Math.sin((2 * Math.PI * hz * i) / rate)))

/** Root mean square of the middle, away from the edges. */
const rms = (x: Int16Array): number => {
  const from = Math.floor(x.length * 0.1)
  const to = Math.floor(x.length * 0.9)
  let sum = 0
  for (let i = from; i < to; i++) sum += x[i]! ** 2
  return Math.sqrt(sum / (to - from))
}

const decibels = (ratio: number): number => 20 * Math.log10(Math.max(ratio, 1e-9))

const sampleRates = [8000, 16000, 22050, 24000, 32000, 44100, 48000]
const pairs = sampleRates.flatMap((from) => sampleRates.filter((to) => to !== from).map((to) => [from, to] as const))

describe("Resampler", () => {
  it("hands the input through when the rates are equal", () => {
    const input = tone(440, 16000, 100)
    const resampler = new Resampler(16000, 16000)
    expect(resampler.process(input)).toBe(input)
    expect(resampler.flush()).toHaveLength(0)
  })

  it.each(pairs)("%i -> %i Hz passes speech and stops what would alias", (from, to) => {
    const nyquist = Math.min(from, to) / 2
    const amplitude = rms(tone(1000, from, from))
    expect(Math.abs(decibels(rms(resample(tone(0.5 * nyquist, from, from), from, to)) / amplitude))).toBeLessThan(0.1)
    expect(decibels(rms(resample(tone(0.85 * nyquist, from, from), from, to)) / amplitude)).toBeGreaterThan(-1.2)
    if (from > to && 1.15 * nyquist < from / 2) {
      expect(decibels(rms(resample(tone(1.15 * nyquist, from, from), from, to)) / amplitude)).toBeLessThan(-75)
    }
  })

  it.each(pairs)("%i -> %i Hz keeps time: the output is the same tone without a shift", (from, to) => {
    const out = resample(tone(700, from, from), from, to)
    const expected = tone(700, to, to)
    expect(out).toHaveLength(to)
    let worst = 0
    for (let i = Math.floor(to / 10); i < to - Math.floor(to / 10); i++) {
      worst = Math.max(worst, Math.abs(out[i]! - expected[i]!))
    }
    expect(worst).toBeLessThan(20)
  })

  it.each(pairs)("%i -> %i Hz gives the same samples however the input is cut", (from, to) => {
    const input = Int16Array.from({ length: 5000 }, (_, i) => ((i * 7919) % 30011) - 15000)
    const whole = resample(input, from, to)
    for (const sizes of [[1], [160], [3, 997, 64], [2048, 0, 5]]) {
      const resampler = new Resampler(from, to)
      const out: Array<number> = []
      for (let at = 0, k = 0; at < input.length; k++) {
        const size = sizes[k % sizes.length]!
        out.push(...resampler.process(input.subarray(at, at + size)))
        at += size
      }
      out.push(...resampler.flush())
      expect(Int16Array.from(out)).toEqual(whole)
    }
  })

  it.each([0, 1, 2, 159, 160, 161, 4801])("turns %i samples into exactly the length the ratio says", (n) => {
    for (const [from, to] of pairs) {
      expect(resample(tone(300, from, n), from, to)).toHaveLength(Math.ceil((n * to) / from))
    }
  })

  it("begins anew after a flush", () => {
    const resampler = new Resampler(48000, 16000)
    const once = () => [...Array.from(resampler.process(tone(500, 48000, 960))), ...Array.from(resampler.flush())]
    expect(once()).toEqual(once())
  })

  it("clips instead of wrapping", () => {
    const square = Int16Array.from({ length: 400 }, (_, i) => (i % 40 < 20 ? 32767 : -32768))
    const out = resample(square, 8000, 48000)
    for (let i = 60 + 6; i < 100; i++) expect(out[i]).toBeGreaterThan(0)
    expect(out.some((x) => x === 32767)).toBe(true)
  })

  it("refuses rates without a small ratio", () => {
    expect(() => new Resampler(0, 16000)).toThrow(RangeError)
    expect(() => new Resampler(16000, 16001)).toThrow(RangeError)
    expect(() => new Resampler(16000.5, 8000)).toThrow(RangeError)
  })
})
