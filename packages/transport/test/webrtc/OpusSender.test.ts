import { describe, expect, it } from "vitest"
import { OpusSender, type SpokenPacket } from "../../src/webrtc/OpusSender.ts"

const encoder = {
  sampleRate: 24_000,
  encode: (frame: Int16Array) => Uint8Array.of(frame[0] ?? 0),
  close: () => undefined
}
const voice = new Int16Array(480).fill(7)

const make = (): OpusSender => new OpusSender(encoder, { sequence: 65_534, timestamp: 2 ** 32 - 960 })

describe("OpusSender", () => {
  it("numbers packets without a hole and wraps both counters", () => {
    const speaking = make()
    const packets = [0, 20, 40].map((now) => speaking.next(voice, now))
    expect(packets.map((p) => p?.sequence)).toEqual([65_535, 0, 1])
    expect(packets.map((p) => p?.timestamp)).toEqual([0, 960, 1920])
    expect(packets.map((p) => p?.marker)).toEqual([true, false, false])
  })

  it("fades out with ten frames of silence, then shows life every 400 ms", () => {
    const speaking = make()
    speaking.next(voice, 0)
    const sent: Array<number> = []
    for (let tick = 1; tick <= 110; tick++) {
      if (speaking.next(undefined, tick * 20) !== undefined) sent.push(tick)
    }
    expect(sent).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 30, 50, 70, 90, 110])
  })

  it("moves the RTP clock through silence and marks the first packet after it", () => {
    const speaking = make()
    const first = speaking.next(voice, 0)
    for (let tick = 1; tick < 100; tick++) speaking.next(undefined, tick * 20)
    const next = speaking.next(voice, 2000)
    expect((next?.timestamp ?? 0) - (first?.timestamp ?? 0)).toBe(100 * 960)
    expect(next?.marker).toBe(true)
  })

  it("jumps with the wall clock over a stall, and not for a tick that is merely late", () => {
    const speaking = make()
    const stamps = [0, 20, 55, 60, 80, 300, 320].map((now) => (speaking.next(voice, now) as SpokenPacket).timestamp)
    expect(stamps.map((s) => (s - (stamps[0] ?? 0)) / 960)).toEqual([0, 1, 2, 3, 4, 15, 16])
  })
})
