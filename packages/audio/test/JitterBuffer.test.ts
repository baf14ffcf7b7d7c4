import { describe, expect, it } from "vitest"
import { JitterBuffer, type JitterOutput, type JitterPacket } from "../src/JitterBuffer.ts"

const packet = (index: number, start = 0): JitterPacket => ({
  sequence: (start + index) & 0xffff,
  timestamp: ((start + index) * 960) >>> 0,
  payload: Uint8Array.of(index & 0xff)
})

const sequences = (outputs: ReadonlyArray<JitterOutput>): Array<number> =>
  outputs.flatMap((output) => (output._tag === "Packet" ? [output.packet.sequence] : []))

const random = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

describe("JitterBuffer", () => {
  it("passes an orderly stream on at once", () => {
    const buffer = new JitterBuffer()
    for (let i = 0; i < 100; i++) expect(sequences(buffer.push(packet(i), i * 20))).toEqual([i])
    expect(buffer.lost + buffer.late).toBe(0)
  })

  it("swaps neighbours back and wraps at 65536", () => {
    const buffer = new JitterBuffer()
    const out = [0, 2, 1, 3].flatMap((i) => sequences(buffer.push(packet(i, 65_534), i)))
    expect(out).toEqual([65_534, 65_535, 0, 1])
  })

  it("gives a hole up after its time and names the packet that may repair it", () => {
    const buffer = new JitterBuffer({ holdMs: 60 })
    buffer.push(packet(0), 0)
    expect(buffer.push(packet(3), 60)).toEqual([])
    expect(buffer.expire(119)).toEqual([])
    expect(buffer.expire(120)).toEqual([
      { _tag: "Lost", count: 2, next: packet(3) },
      { _tag: "Packet", packet: packet(3) }
    ])
    expect(buffer.push(packet(2), 121)).toEqual([])
    expect(buffer.late).toBe(1)
  })

  it("never holds more than its capacity", () => {
    const buffer = new JitterBuffer({ capacity: 3, holdMs: 10_000 })
    buffer.push(packet(0), 0)
    const out = [2, 3, 4, 5].flatMap((i) => sequences(buffer.push(packet(i), 0)))
    expect(out).toEqual([2, 3, 4, 5])
  })

  it("tells a pause (DTX) from loss", () => {
    const buffer = new JitterBuffer()
    buffer.push(packet(0), 0)
    const next = { sequence: 1, timestamp: 20 * 960, payload: new Uint8Array(1) }
    expect(buffer.push(next, 400)[0]).toEqual({ _tag: "Pause", timestampUnits: 19 * 960 })
    expect(buffer.lost).toBe(0)
  })

  it("follows a sender that starts over", () => {
    const near = new JitterBuffer()
    for (let i = 100; i < 120; i++) near.push(packet(i), 0)
    expect([90, 91, 92, 93, 94].flatMap((i) => sequences(near.push(packet(i), 0)))).toEqual([93, 94])
    const far = new JitterBuffer()
    far.push(packet(100), 0)
    expect(sequences(far.push(packet(40_000), 0))).toEqual([40_000])
  })

  it("yields each packet once and in order, whatever the network does within the window", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const next = random(seed)
      const start = Math.floor(next() * 65_536)
      const arrivals: Array<{ readonly index: number; readonly at: number }> = []
      const sent = 200
      for (let index = 0; index < sent; index++) {
        if (index > 0 && next() < 0.1) continue
        const copies = next() < 0.1 ? 2 : 1
        for (let copy = 0; copy < copies; copy++)
          arrivals.push({ index, at: index * 20 + (index === 0 ? 0 : next() * 55) })
      }
      arrivals.sort((a, b) => a.at - b.at)
      const buffer = new JitterBuffer({ holdMs: 60, capacity: 8 })
      const heard: Array<number> = []
      let accounted = 0
      for (const { at, index } of arrivals) {
        for (const output of [...buffer.expire(at), ...buffer.push(packet(index, start), at)]) {
          if (output._tag === "Packet") heard.push((output.packet.sequence - start) & 0xffff)
          if (output._tag !== "Pause") accounted += output._tag === "Lost" ? output.count : 1
        }
      }
      for (const output of buffer.expire(1e9)) {
        if (output._tag === "Packet") heard.push((output.packet.sequence - start) & 0xffff)
        if (output._tag !== "Pause") accounted += output._tag === "Lost" ? output.count : 1
      }
      const arrived = [...new Set(arrivals.map((a) => a.index))].sort((a, b) => a - b)
      expect(heard, `seed ${seed}`).toEqual(arrived)
      expect(accounted, `seed ${seed}`).toBe((arrived.at(-1) ?? 0) + 1)
    }
  })
})
