// Whose packets are believed, and where ours go, by a clock of the test's own.
import { describe, expect, it } from "vitest"
import { Latch, type Place } from "../../src/rtp/Latch.ts"

const described: Place = { address: "198.51.100.1", port: 4_000 }
const hidden: Place = { address: "10.0.0.7", port: 4_000 }
/** The same far side through its NAT. */
const mapped: Place = { address: "198.51.100.1", port: 61_000 }
const stranger: Place = { address: "203.0.113.9", port: 5_000 }

const isPublic = (address: string): boolean => !/^(10|127|169\.254)\./.test(address) && address !== "255.255.255.255"

const made = (place = described, peer = "198.51.100.1") => {
  let now = 0
  const latch = new Latch(place, 0, { peer, mayReach: isPublic })
  const sequences = new Map<string, number>()
  /** `count` packets in order, 20 ms apart; what came of each. */
  const hear = (from: Place, { count = 1, ssrc = 7, step = 1, everyMs = 20 } = {}) =>
    Array.from({ length: count }, () => {
      now += everyMs
      const key = `${from.address}:${from.port}:${ssrc}`
      const sequence = ((sequences.get(key) ?? 65_533) + step) & 0xffff
      sequences.set(key, sequence)
      return latch.hear(from, { ssrc, sequence }, now)
    })
  const silence = (ms: number): void => void (now += ms)
  return { latch, hear, silence, describe: (next: Place) => latch.describe(next, now) }
}

describe("the source of a call's media", () => {
  it("is what was described, from its first packet on", () => {
    const { hear, latch } = made()
    expect(latch.target).toEqual(described)
    expect(hear(described, { count: 2 })).toEqual(["began", "known"])
    expect(latch.target).toEqual(described)
  })

  it("is found behind NAT after five packets in order, whatever was described", () => {
    for (const place of [described, hidden]) {
      const { hear, latch } = made(place)
      expect(latch.target).toEqual(place === hidden ? undefined : described)
      expect(hear(mapped, { count: 6 })).toEqual([...Array(4).fill("stranger"), "began", "known"])
      expect(latch.target).toEqual(mapped)
    }
  })

  it("is no stranger while the far side speaks, however many packets come", () => {
    const { hear, latch } = made()
    hear(described)
    for (let i = 0; i < 200; i++) {
      expect(hear(stranger, { count: 10, everyMs: 1 })).not.toContain("began")
      expect(hear(described)).toEqual(["known"])
    }
    expect(latch.target).toEqual(described)
  })

  it("is no stranger before the far side had time to begin, and is given back when that does", () => {
    const { hear, latch } = made()
    expect(hear(stranger, { count: 40 })).not.toContain("began")
    expect(hear(stranger, { count: 20 })).toContain("began")
    // The one that was described is believed more, though the other goes on.
    const heard = Array.from({ length: 5 }, () => [hear(stranger), hear(described)]).flat(2)
    expect(heard.filter((one) => one === "began").length).toBe(1)
    expect(latch.target).toEqual(described)
    expect(hear(stranger, { count: 90 })).not.toContain("began")
  })

  it("is another one only after two seconds of silence, and only with packets in order", () => {
    const { hear, latch, silence } = made()
    hear(described)
    expect(hear(stranger, { count: 90 })).not.toContain("began")
    silence(2_000)
    expect(hear(stranger, { count: 90, step: 2 })).not.toContain("began")
    for (let ssrc = 100; ssrc < 200; ssrc++) expect(hear(stranger, { ssrc })).not.toContain("began")
    expect(hear(stranger, { count: 5, ssrc: 8 })).toContain("began")
    expect(latch.target).toEqual(stranger)
  })

  it("goes on under a new SSRC after several packets, once the old one is silent", () => {
    const { hear, silence } = made()
    hear(described, { count: 3 })
    for (let i = 0; i < 20; i++) {
      expect(hear(described, { ssrc: 8 })).toEqual(["stranger"])
      expect(hear(described)).toEqual(["known"])
    }
    silence(200)
    expect(hear(described, { count: 5, ssrc: 9 })).toEqual([...Array(4).fill("stranger"), "began"])
  })

  it("is described anew: the old one has to wait", () => {
    const { describe: say, hear, latch } = made()
    hear(described)
    say(described)
    expect(hear(described)).toEqual(["known"])
    say({ ...described, port: 4_002 })
    expect(latch.target?.port).toBe(4_002)
    expect(hear(described, { count: 20 })).not.toContain("began")
    expect(hear({ ...described, port: 4_002 })).toEqual(["began"])
  })

  it("is nowhere that may not be reached, described or not", () => {
    for (const address of ["255.255.255.255", "169.254.1.1", "10.0.0.7"]) {
      const { hear, latch, silence } = made({ address, port: 4_000 }, address)
      silence(10_000)
      expect(hear({ address, port: 4_000 }, { count: 20 })).not.toContain("began")
      expect(latch.target).toBeUndefined()
    }
  })

  it("is found among strangers without number", () => {
    const { hear, latch } = made(hidden)
    for (let i = 0; i < 5; i++) {
      for (let port = 1; port < 100; port++) hear({ ...stranger, port }, { everyMs: 0 })
      hear(mapped)
    }
    expect(latch.target).toEqual(mapped)
  })
})
