// The leveller: towards one loudness, within bounds, the same however the samples are cut.
import { describe, expect, it } from "vitest"
import { dbfs } from "../src/Level.ts"
import { rms } from "../src/testing/rms.ts"
import { Leveller } from "../src/Leveller.ts"

const rate = 16000
const tone = (level: number, seconds: number): Int16Array =>
  Int16Array.from({ length: rate * seconds }, (_, n) =>
    Math.round(32767 * level * Math.sin((2 * Math.PI * 200 * n) / rate))
  )
const levelled = (samples: Int16Array, step = samples.length): Int16Array => {
  const leveller = new Leveller(rate)
  const out = samples.slice()
  for (let at = 0; at < out.length; at += step) leveller.process(out.subarray(at, at + step))
  return out
}
const endDb = (samples: Int16Array): number => dbfs(rms(samples.subarray(samples.length - rate)))

describe("Leveller", () => {
  it.each([0.04, 0.08, 0.14, 0.3, 0.5])("brings a level of %f to -20 dBFS", (level) => {
    expect(Math.abs(endDb(levelled(tone(level, 5))) + 20)).toBeLessThan(0.3)
  })

  it("goes no further than 12 dB either way", () => {
    expect(endDb(levelled(tone(0.01, 6))) - endDb(tone(0.01, 6))).toBeCloseTo(12, 1)
    // 0.99 is -3.1 dBFS; twelve less would be too much by far, twenty is out of reach.
    expect(endDb(levelled(tone(0.99, 6))) - endDb(tone(0.99, 6))).toBeCloseTo(-12, 1)
  })

  it("neither raises a pause nor learns from it", () => {
    const leveller = new Leveller(rate)
    leveller.process(tone(0.05, 4))
    const gain = leveller.gainDb
    expect(gain).toBeGreaterThan(5)
    leveller.process(tone(0.001, 10))
    expect(leveller.gainDb).toBe(gain)
  })

  it("changes slowly: no step of gain is heard inside a tone", () => {
    const out = levelled(Int16Array.from([...tone(0.05, 2), ...tone(0.4, 2)]))
    let step = 0
    for (let i = 1; i < 2 * rate; i++) step = Math.max(step, Math.abs(out[i]! - out[i - 1]!))
    expect(step).toBeLessThan(0.142 * 32768 * 2 * Math.PI * (200 / rate) * 1.1)
  })

  it.each([1, 7, 160, 333, 5000])("gives the same in pieces of %i samples", (step) => {
    const samples = tone(0.07, 2)
    expect(levelled(samples, step)).toEqual(levelled(samples))
  })
})
