// Timers that were set while the core was at work bring what they throw to its owner; others are nobody's business here.
import { setTimeout as rest } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { CoreBoundary } from "../../src/sip/CoreBoundary.ts"

const broken = () => {
  const errors: Array<string> = []
  return { errors, boundary: new CoreBoundary((error) => errors.push(error instanceof Error ? error.message : "")) }
}

const fail = (message: string) => (): never => {
  throw new Error(message)
}

describe("the boundary of a core", () => {
  it("brings what a timer throws to its owner, also of timers set by timers", async () => {
    const a = broken()
    const b = broken()
    a.boundary.enter(() => setTimeout(fail("a"), 1))
    a.boundary.enter(() => setTimeout(() => setTimeout(fail("a later"), 1), 1))
    b.boundary.enter(() => setTimeout(fail("b"), 1))
    await rest(30)
    expect(a.errors).toEqual(["a", "a later"])
    expect(b.errors).toEqual(["b"])
  })

  it("lets an interval go on until it is cleared", async () => {
    const { boundary, errors } = broken()
    const interval = boundary.enter(() => setInterval(fail("again"), 2))
    await rest(30)
    clearInterval(interval)
    const { length } = errors
    expect(length).toBeGreaterThan(1)
    await rest(20)
    expect(errors.length).toBe(length)
  })

  it("gives timers their arguments, and lets them be cleared", async () => {
    const { boundary, errors } = broken()
    const given: Array<unknown> = []
    boundary.enter(() => setTimeout((...all: ReadonlyArray<unknown>) => given.push(...all), 1, "x", 2))
    clearTimeout(boundary.enter(() => setTimeout(fail("cleared"), 1)))
    await rest(20)
    expect(given).toEqual(["x", 2])
    expect(errors).toEqual([])
  })

  it("throws what is thrown at once, and leaves the timers of everybody else alone", () => {
    const { boundary, errors } = broken()
    const before = [globalThis.setTimeout, globalThis.setInterval]
    const outer = broken()
    expect(() => boundary.enter(() => outer.boundary.enter(fail("now")))).toThrow("now")
    expect([globalThis.setTimeout, globalThis.setInterval]).toEqual(before)
    expect(boundary.enter(() => boundary.enter(() => 7))).toBe(7)
    expect(errors).toEqual([])
  })
})
