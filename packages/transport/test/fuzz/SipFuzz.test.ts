// The short form of `npm run fuzz`.
import { describe, expect, it } from "vitest"
import { fuzzSip } from "../../src/testing/SipFuzz.ts"

describe("the server, told a great many wrong things", () => {
  it("breaks nowhere, answers what deserves it, and keeps nothing", { timeout: 180_000 }, async () => {
    const report = await fuzzSip({ messages: 20_000, seed: 20_261_121, samples: 4 })
    expect(report.faults).toEqual([])
    expect(report.unanswered).toEqual([])
    expect(report.left).toBe(0)
    // It was not all refused at first sight.
    expect(report.calls).toBeGreaterThan(300)
    expect(report.answered).toBeGreaterThan(100)
    expect(report.leftOpen).toBeGreaterThan(40)
    expect(report.placed).toBeGreaterThan(40)
    expect(report.probes).toBeGreaterThan(30)
    expect(Object.keys(report.statuses).length).toBeGreaterThan(15)
    expect(report.heapBytes.end - report.heapBytes.middle).toBeLessThan(4_000_000)
  })
})
