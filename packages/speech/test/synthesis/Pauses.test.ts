import { describe, expect, it } from "@effect/vitest"
import { Pauses } from "../../src/synthesis/Pauses.ts"

const sound = (loudMs: number, quietMs: number): Int16Array => {
  const samples = new Int16Array((loudMs + quietMs) * 16)
  samples.fill(5000, 0, loudMs * 16)
  return samples
}

describe("Pauses", () => {
  it.each<[string, number, number]>([
    ["It is over. ", 0, 260],
    ["It is over. ", 80, 180],
    ["It is over. ", 400, 0],
    ["“Is it over?” ", 0, 260],
    ["A line\n", 0, 260],
    ["First, ", 20, 100],
    ["the old man ", 0, 0]
  ])("after %j with %d ms of silence misses %d ms", (content, quietMs, missingMs) => {
    const pauses = new Pauses()
    pauses.follow(content, sound(100, quietMs), 16_000)
    expect(pauses.missingMs()).toBe(missingMs)
  })

  it("adds up the silence of several pieces, and asks for none at the beginning or after a break", () => {
    const pauses = new Pauses()
    expect(pauses.missingMs()).toBe(0)
    pauses.follow("Done. ", sound(100, 50), 16_000)
    pauses.follow("Done. ", sound(0, 100), 16_000)
    expect(pauses.missingMs()).toBe(110)
    pauses.forget()
    expect(pauses.missingMs()).toBe(0)
  })
})
