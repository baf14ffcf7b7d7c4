import { describe, expect, it } from "vitest"
import { RtpReceiver } from "../../src/rtp/RtpReceiver.ts"

const fill = (value: number, samples: number) => new Int16Array(samples).fill(value)

const packet = (index: number, ssrc = 1, units = 960) => ({
  ssrc,
  sequence: index,
  timestamp: index * units,
  payload: Uint8Array.of(index)
})

/** Frames are told apart by their first sample: a packet's own number, -1 concealed, -2 recovered, 0 silence. */
const setUp = (samplesPerPacket = 320) => {
  const heard: Array<number> = []
  const hearing = new RtpReceiver(
    {
      decode: (packet) => (packet[0] === 255 ? undefined : fill(packet[0] ?? 0, samplesPerPacket)),
      conceal: (samples) => fill(-1, samples),
      recover: (_, samples) => fill(-2, samples)
    },
    (samples) => {
      expect(samples.length).toBe(320)
      heard.push(samples[0] ?? 0)
    }
  )
  return { hearing, heard, packet }
}

describe("RtpReceiver", () => {
  it("delivers in the call that received the packet", () => {
    const { heard, hearing, packet } = setUp()
    for (let i = 1; i <= 5; i++) {
      hearing.take(packet(i), i * 20)
      expect(heard.length).toBe(i)
    }
  })

  it("conceals what is lost and recovers the last of it from the next packet", () => {
    const { heard, hearing, packet } = setUp()
    hearing.take(packet(1), 20)
    hearing.take(packet(4), 80)
    hearing.tick(130)
    hearing.tick(140)
    expect(heard).toEqual([1, -1, -2, 4])
    expect(hearing.lost).toBe(2)
  })

  it("hears a client that stopped sending as silence, 50 frames a second", () => {
    const { heard, hearing, packet } = setUp()
    hearing.tick(0)
    expect(heard).toEqual([])
    hearing.take(packet(1), 0)
    for (let now = 20; now <= 1000; now += 20) hearing.tick(now)
    expect(heard.length).toBe(51)
    expect(heard.slice(1).every((v) => v === 0)).toBe(true)
  })

  it("does not count a pause twice: DTX silence is filled by the clock, not again by the next packet", () => {
    const { heard, hearing } = setUp()
    hearing.take({ ssrc: 1, sequence: 1, timestamp: 0, payload: Uint8Array.of(1) }, 0)
    for (let now = 20; now < 400; now += 20) hearing.tick(now)
    hearing.take({ ssrc: 1, sequence: 2, timestamp: 400 * 48, payload: Uint8Array.of(2) }, 400)
    expect(heard.length).toBe(1 + 19 + 1)
  })

  it("cuts 60 ms and 10 ms packets into frames of 20 ms", () => {
    const long = setUp(960)
    long.hearing.take(long.packet(1, 1, 2880), 0)
    expect(long.heard).toEqual([1, 1, 1])
    const short = setUp(160)
    for (let i = 1; i <= 4; i++) short.hearing.take(short.packet(i, 1, 480), i * 10)
    expect(short.heard.length).toBe(2)
  })

  it("stays with one stream, and follows a republished microphone", () => {
    const { heard, hearing, packet } = setUp()
    hearing.take(packet(1, 1), 0)
    hearing.take(packet(100, 2), 10)
    hearing.take(packet(2, 1), 20)
    hearing.take(packet(101, 2), 300)
    expect(heard).toEqual([1, 2, 101])
  })

  it("passes over packets that are empty or no Opus", () => {
    const { heard, hearing } = setUp()
    hearing.take({ ssrc: 1, sequence: 1, timestamp: 0, payload: new Uint8Array() }, 0)
    hearing.take({ ssrc: 1, sequence: 2, timestamp: 960, payload: Uint8Array.of(255) }, 20)
    expect(heard).toEqual([])
  })
})
