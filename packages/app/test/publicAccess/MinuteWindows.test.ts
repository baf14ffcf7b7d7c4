import { describe, expect, it } from "vitest"
import { MinuteWindows } from "../../src/publicAccess/MinuteWindows.ts"

const minute = 60_000

/** How many of `tries` at this moment come through. */
const admitted = (windows: MinuteWindows, key: string, most: number, tries: number, nowMs: number): number => {
  let through = 0
  for (let n = 0; n < tries; n++) {
    if (!windows.isFree(key, most, nowMs)) continue
    windows.count(key, nowMs)
    through++
  }
  return through
}

describe("windows of a minute", () => {
  it("let through so many of each key and no more, until the next minute", () => {
    const windows = new MinuteWindows()
    const now = 29_000_000 * minute
    expect(admitted(windows, "address a", 10, 15, now)).toBe(10)
    expect(admitted(windows, "address b", 10, 4, now + 1)).toBe(4)
    expect(admitted(windows, "agent x", 60, 100, now + minute - 1)).toBe(60)
    expect(admitted(windows, "address a", 10, 1, now + minute - 1)).toBe(0)
    expect(admitted(windows, "address a", 10, 15, now + minute)).toBe(10)
  })
})
