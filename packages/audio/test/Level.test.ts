import { describe, expect, it } from "vitest"
import { amplify, dbfs, gainOf, limit, peak } from "../src/Level.ts"
import { rms } from "../src/testing/rms.ts"

const silenceDbfs = -120

const sine = (amplitude: number) =>
  Int16Array.from({ length: 16000 }, (_, i) => Math.round(amplitude * Math.sin((2 * Math.PI * 100 * i) / 16000)))

describe("Level", () => {
  it("measures a sine", () => {
    expect(rms(sine(32767))).toBeCloseTo(Math.SQRT1_2, 3)
    expect(dbfs(rms(sine(32767)))).toBeCloseTo(-3.01, 1)
    expect(peak(sine(16384))).toBeCloseTo(0.5, 3)
    expect(peak(Int16Array.of(-32768, 5))).toBe(1)
  })

  it("names silence and emptiness", () => {
    expect(dbfs(rms(new Int16Array(10)))).toBe(silenceDbfs)
    expect(dbfs(rms(new Int16Array(0)))).toBe(silenceDbfs)
    expect(peak(new Int16Array(0))).toBe(0)
  })

  it("turns decibels into factors", () => {
    expect(gainOf(0)).toBe(1)
    expect(gainOf(-20)).toBeCloseTo(0.1)
  })

  it("leaves what fits alone and bends the rest without ever clipping or folding", () => {
    expect([...amplify(Int16Array.of(1000, -1000, 0), 2)]).toEqual([2000, -2000, 0])
    let before = -Infinity
    for (let level = -4; level <= 4; level += 0.001) {
      const out = limit(level)
      expect(out).toBeGreaterThanOrEqual(before)
      expect(Math.abs(out)).toBeLessThanOrEqual(1)
      before = out
    }
    const loud = amplify(sine(30000), 4)
    expect(peak(loud)).toBeLessThanOrEqual(1)
    expect(Math.sign(loud[40]!)).toBe(1)
    expect(limit(0.8 + 1e-6) - limit(0.8)).toBeCloseTo(1e-6, 9)
  })
})
