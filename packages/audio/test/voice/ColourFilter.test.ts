// The colour filter: gains where they are asked for, alignment, and independence of the cut.
import { describe, expect, it } from "vitest"
import { dbfs } from "../../src/Level.ts"
import { rms } from "../../src/testing/rms.ts"
import { colourFilter, FirFilter } from "@parley/audio/voice/ColourFilter"
import { colourBandsHz } from "@parley/audio/voice/VoiceProfile"

const tone = (hz: number, sampleRate: number, level = 0.1): Int16Array =>
  Int16Array.from({ length: sampleRate }, (_, n) =>
    Math.round(32768 * level * Math.sin((2 * Math.PI * hz * n) / sampleRate))
  )

const filtered = (samples: Int16Array, taps: Float32Array, step = samples.length): Int16Array => {
  const filter = new FirFilter(taps)
  const out: Array<number> = []
  for (let at = 0; at < samples.length; at += step) out.push(...filter.process(samples.subarray(at, at + step)))
  out.push(...filter.flush())
  return Int16Array.from(out)
}

const gainDb = (hz: number, sampleRate: number, taps: Float32Array): number => {
  const inside = (samples: Int16Array) => samples.subarray(sampleRate / 4, (3 * sampleRate) / 4)
  const samples = tone(hz, sampleRate)
  return dbfs(rms(inside(filtered(samples, taps)))) - dbfs(rms(inside(samples)))
}

describe("ColourFilter", () => {
  const flat = colourBandsHz.map(() => 0)

  it.each([16000, 22050, 24000])("leaves a flat colour as it is at %i Hz, in time too", (sampleRate) => {
    const samples = tone(300, sampleRate)
    const out = filtered(samples, colourFilter(flat, sampleRate))
    expect(out.length).toBe(samples.length)
    for (let i = 200; i < out.length - 200; i++) expect(Math.abs(out[i]! - samples[i]!)).toBeLessThanOrEqual(2)
  })

  it("raises and lowers wide bands by what is asked", () => {
    const taps = colourFilter([6, 6, 6, 6, 6, -6, -6, -6, -6, -6], 16000)
    expect(gainDb(300, 16000, taps)).toBeCloseTo(6, 0)
    expect(gainDb(3150, 16000, taps)).toBeCloseTo(-6, 0)
    expect(gainDb(7000, 16000, taps)).toBeCloseTo(-6, 0)
  })

  it("gives the same however the samples are cut, a few at a time too", () => {
    const taps = colourFilter([3, -3, 5, -5, 8, -8, 10, -10, 2, 0], 16000)
    const samples = tone(440, 16000, 0.7)
    const whole = filtered(samples, taps)
    expect(filtered(samples, taps, 37)).toEqual(whole)
    expect(filtered(samples.subarray(0, 20), taps)).toHaveLength(20)
  })

  it("begins anew after a flush, and never wraps a peak around", () => {
    const filter = new FirFilter(
      colourFilter(
        flat.map(() => 10),
        16000
      )
    )
    const loud = tone(500, 16000, 0.95)
    const once = [...filter.process(loud), ...filter.flush()]
    expect([...filter.process(loud), ...filter.flush()]).toEqual(once)
    expect(once.every((value, n) => n < 200 || n > 15800 || value * loud[n]! >= 0)).toBe(true)
  })

  it("refuses another number of bands", () => {
    expect(() => colourFilter([1, 2], 16000)).toThrow(RangeError)
  })
})
