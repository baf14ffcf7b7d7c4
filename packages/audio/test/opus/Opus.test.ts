import { describe, expect, it } from "vitest"
import { makeOpusDecoder } from "../../src/opus/OpusDecoder.ts"
import { makeOpusEncoder } from "../../src/opus/OpusEncoder.ts"

const tone = (rate: number, hz: number, amplitude: number, index: number): Int16Array =>
  Int16Array.from({ length: rate / 50 }, (_, i) =>
    Math.round(32_767 * amplitude * Math.sin((2 * Math.PI * hz * (index * (rate / 50) + i)) / rate))
  )

/** Amplitude of one frequency in a signal (Goertzel). */
const level = (samples: Int16Array, rate: number, hz: number): number => {
  let re = 0
  let im = 0
  samples.forEach((s, i) => {
    re += s * Math.cos((2 * Math.PI * hz * i) / rate)
    im += s * Math.sin((2 * Math.PI * hz * i) / rate)
  })
  return (2 * Math.hypot(re, im)) / samples.length / 32_767
}

const join = (frames: ReadonlyArray<Int16Array>): Int16Array => Int16Array.from(frames.flatMap((f) => [...f]))

describe("Opus", () => {
  it("carries a tone from 24 kHz to 16 kHz at its level", async () => {
    const encoder = await makeOpusEncoder({ sampleRate: 24_000 })
    const decoder = await makeOpusDecoder({ sampleRate: 16_000 })
    const heard: Array<Int16Array> = []
    for (let i = 0; i < 50; i++) {
      const frame = decoder.decode(encoder.encode(tone(24_000, 440, 0.4, i)))
      expect(frame?.length).toBe(320)
      if (frame !== undefined && i >= 10) heard.push(frame)
    }
    expect(level(join(heard), 16_000, 440)).toBeGreaterThan(0.35)
    expect(level(join(heard), 16_000, 440)).toBeLessThan(0.45)
    encoder.close()
    decoder.close()
  })

  it("recovers a lost frame from the next one, and conceals without one", async () => {
    const encoder = await makeOpusEncoder({ sampleRate: 24_000, expectedLossPercent: 20 })
    const decoder = await makeOpusDecoder({ sampleRate: 16_000 })
    const packets = Array.from({ length: 40 }, (_, i) => encoder.encode(tone(24_000, 440, 0.4, i)))
    for (const packet of packets.slice(0, 30)) decoder.decode(packet)
    const next = packets[31] ?? new Uint8Array()
    const recovered = decoder.recover(next, 320)
    expect(recovered.length).toBe(320)
    expect(level(recovered, 16_000, 440)).toBeGreaterThan(0.2)
    decoder.decode(next)
    let last = decoder.conceal(320)
    for (let i = 0; i < 20; i++) last = decoder.conceal(320)
    expect(level(last, 16_000, 440)).toBeLessThan(0.05)
    encoder.close()
    decoder.close()
  })

  it("tells malformed packets and never throws on them", async () => {
    const decoder = await makeOpusDecoder({ sampleRate: 16_000 })
    expect(decoder.decode(new Uint8Array())).toBeUndefined()
    let seed = 7
    for (let round = 0; round < 500; round++) {
      const bytes = Uint8Array.from({ length: 1 + (round % 60) }, () => {
        seed = (seed * 1_103_515_245 + 12_345) >>> 0
        return seed >>> 24
      })
      const samples = decoder.decode(bytes)
      if (samples !== undefined) expect(samples.length).toBeLessThanOrEqual(1920)
      expect(decoder.recover(bytes, 320).length).toBeGreaterThan(0)
    }
    decoder.close()
  })

  it("gives its memory back: a thousand codecs do not grow the process without end", async () => {
    for (let i = 0; i < 1000; i++) {
      const encoder = await makeOpusEncoder({ sampleRate: 24_000 })
      const decoder = await makeOpusDecoder({ sampleRate: 16_000 })
      decoder.decode(encoder.encode(new Int16Array(480)))
      encoder.close()
      encoder.close()
      decoder.close()
      decoder.close()
    }
    const grown = process.memoryUsage().arrayBuffers
    expect(grown).toBeLessThan(200 * 2 ** 20)
    const decoder = await makeOpusDecoder({ sampleRate: 16_000 })
    decoder.close()
    expect(() => decoder.conceal(320)).toThrow()
  })
})
