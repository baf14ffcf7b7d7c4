import { describe, expect, it } from "vitest"
import { alignWords, parsePhones } from "../../src/flite/WordAlignment.ts"

const phones = parsePhones(
  "pau:0.100 hh:0.200 ax:0.250 l:0.300 ow:0.400 pau:0.500 w:0.600 er:0.700 l:0.800 d:0.900 pau:1.000 \n"
)

describe("WordAlignment", () => {
  it("reads phones with their ends", () => {
    expect(phones).toHaveLength(11)
    expect(phones[1]).toEqual({ phone: "hh", endMs: 200 })
    expect(parsePhones("flite: error")).toEqual([])
  })

  it("gives each word the span of its phones, pauses left out", () => {
    expect(
      alignWords(["hello,", "world"], phones, [
        ["hh", "ax", "l", "ow"],
        ["w", "er", "l", "d"]
      ])
    ).toEqual([
      { startMs: 100, endMs: 400, exact: true },
      { startMs: 500, endMs: 900, exact: true }
    ])
  })

  it("bears phones that changed, vanished or appeared in context", () => {
    const spans = alignWords(["hello,", "world"], phones, [
      ["hh", "eh", "l", "l", "ow"],
      ["w", "er", "d"]
    ])
    expect(spans).toEqual([
      { startMs: 100, endMs: 400, exact: true },
      { startMs: 500, endMs: 900, exact: true }
    ])
  })

  it("interpolates a word of unknown sound between its neighbours and says so", () => {
    const spans = alignWords(["hello,", "big", "world"], phones, [
      ["hh", "ax", "l", "ow"],
      undefined,
      ["w", "er", "l", "d"]
    ])
    expect(spans[1]).toEqual({ startMs: 400, endMs: 500, exact: false })
    expect(spans[2]).toMatchObject({ startMs: 500, exact: true })
  })

  it("believes nothing when too little fits, and shares the voiced time by letters", () => {
    const spans = alignWords(["aaa", "bbbbbbb"], phones, [
      ["zh", "zh", "zh"],
      ["ch", "ch"]
    ])
    expect(spans.map((span) => span.exact)).toEqual([false, false])
    expect(spans[0]?.startMs).toBe(100)
    expect(spans[0]?.endMs).toBeCloseTo(100 + 800 / 3)
    expect(spans[1]?.endMs).toBeCloseTo(900)
  })

  it("survives an engine that printed no phones", () => {
    expect(alignWords(["one", "two"], [], [undefined, undefined])).toMatchObject([{ exact: false }, { exact: false }])
    expect(alignWords([], phones, [])).toEqual([])
  })
})
