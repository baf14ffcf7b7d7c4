import { describe, expect, it } from "vitest"
import { toneOf } from "@parley/audio/toneOf"
import { DtmfReceiver, DtmfSender, tonesOf } from "../../src/rtp/dtmf.ts"

interface Sent {
  readonly timestamp: number
  readonly payload: Uint8Array
  readonly atMs: number
}

/** The event code of a key (RFC 4733, 3.2). */
const eventOf = (key: string): number => "0123456789*#ABCD".indexOf(key)

const randomFrom = (seed: number) => () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31

const heardIn = (packets: ReadonlyArray<Sent>): string => {
  const receiver = new DtmfReceiver()
  return packets.map((packet) => receiver.take(packet, packet.atMs) ?? "").join("")
}

const keys = "0123456789*#ABCD"

/** A row of keys as senders in the field send them: of any rhythm, with ends lost, doubled and out of order. */
const stream = (random: () => number) => {
  const row = Array.from({ length: 1 + Math.floor(random() * 12) }, () => keys[Math.floor(random() * 16)] ?? "0")
  const packets: Array<Sent> = []
  const step = [160, 320, 80][Math.floor(random() * 3)] ?? 160
  const movesTimestamp = random() < 0.15
  const ends = Math.floor(random() * 4)
  let at = 0
  let timestamp = Math.floor(random() * 2 ** 32)
  for (const key of row) {
    const held = 3 + Math.floor(random() * 10)
    const begun = timestamp
    const mine: Array<Sent> = []
    for (let i = 0; i < held + ends; i++) {
      const ended = i >= held
      const duration = Math.min(i + 1, held) * step
      const moved = movesTimestamp && !ended ? (begun + i * step) >>> 0 : begun
      const payload = Uint8Array.of(eventOf(key), (ended ? 0x80 : 0) | 10, duration >> 8, duration & 0xff)
      mine.push({ timestamp: movesTimestamp && ended ? (begun + (held - 1) * step) >>> 0 : moved, payload, atMs: at })
      if (!ended) at += step / 8
    }
    // Not every packet arrives; one at least does, and ends may come twice.
    const arrived = mine.filter((_, i) => i === 1 || random() > 0.2)
    if (random() < 0.3) arrived.push(...arrived.slice(-1))
    packets.push(...arrived)
    const gap = 60 + Math.floor(random() * 300)
    at += gap
    timestamp = (begun + held * step + gap * 8) >>> 0
  }
  return { row: row.join(""), packets: packets.toSorted((a, b) => a.atMs - b.atMs) }
}

const at = (event: number, timestamp: number, atMs: number, ended = false): Sent => ({
  timestamp,
  payload: Uint8Array.of(event, ended ? 0x8a : 0x0a, 0, 160),
  atMs
})

describe("DTMF events", () => {
  it("are each heard once in a thousand streams with lost, doubled and unmarked packets", () => {
    const random = randomFrom(4_733)
    for (let i = 0; i < 1_000; i++) {
      const { packets, row } = stream(random)
      expect(heardIn(packets), `stream ${i}`).toBe(row)
    }
  })

  it("take late packets of an older key for nothing new", () => {
    expect(heardIn([at(1, 1_000, 0), at(2, 3_000, 200), at(1, 1_000, 220, true), at(2, 3_000, 240, true)])).toBe("12")
    expect(heardIn([at(5, 0xffff_ff00, 0), at(5, 0xffff_ff00, 20, true), at(5, 1_000, 300)])).toBe("55")
  })

  it("drop what is no event", () => {
    const receiver = new DtmfReceiver()
    for (const payload of [[], [1], [1, 10, 0], [16, 10, 0, 160], [255, 0, 0, 0]]) {
      expect(receiver.take({ timestamp: 1, payload: Uint8Array.from(payload) }, 0)).toBeUndefined()
    }
  })

  it("are sent so that they are heard: in order, each once, the end three times", () => {
    const sender = new DtmfSender(160)
    sender.press("12x2#")
    const packets: Array<Sent> = []
    let began = 0
    for (let tick = 0; sender.busy; tick++) {
      const sent = sender.next()
      if (sent === undefined) continue
      if (sent.marker) began = tick * 160
      packets.push({ timestamp: began, payload: sent.payload, atMs: tick * 20 })
    }
    expect(heardIn(packets)).toBe("122#")
    expect(packets.filter(({ payload }) => ((payload[1] ?? 0) & 0x80) !== 0).length).toBe(12)
  })

  it("have tones for those who take no events", () => {
    const samples = tonesOf("5", 8000)
    expect(samples.length).toBe(1440)
    expect(Math.max(...samples)).toBeGreaterThan(10_000)
    // Two tones, not one.
    expect(toneOf(tonesOf("5", 16_000).subarray(0, 320))).toBe(0)
    expect(tonesOf("x", 8000).length).toBe(0)
  })
})
