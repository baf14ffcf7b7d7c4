// Ports of a call: even, within the range, and nobody can tell the next from the last.
import { afterEach, describe, expect, it } from "vitest"
import { openPorts, type RtpPorts } from "../../src/rtp/RtpPorts.ts"

const open: Array<RtpPorts> = []
afterEach(() => {
  for (const { rtcp, rtp } of open.splice(0)) {
    rtp.close()
    rtcp.close()
  }
})

const portOf = async (range: readonly [number, number] | undefined): Promise<number> => {
  const ports = await openPorts("127.0.0.1", range)
  open.push(ports)
  return ports.port
}

describe("the ports of a call", () => {
  it("do not follow each other", async () => {
    const ports: Array<number> = []
    for (let i = 0; i < 30; i++) ports.push(await portOf([30_000, 39_999]))
    expect(ports.every((port) => port % 2 === 0 && port >= 30_000 && port < 39_999)).toBe(true)
    const near = ports.filter((port, i) => i > 0 && Math.abs(port - (ports[i - 1] ?? 0)) <= 4)
    expect(near.length).toBeLessThan(4)
  })

  it("are all of a small range before there are none", async () => {
    const range = [41_100, 41_107] as const
    const ports = [await portOf(range), await portOf(range), await portOf(range), await portOf(range)]
    expect(ports.toSorted()).toEqual([41_100, 41_102, 41_104, 41_106])
    await expect(portOf(range)).rejects.toThrow("no free pair")
  })
})
