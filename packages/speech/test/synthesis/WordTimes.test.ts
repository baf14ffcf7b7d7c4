import { describe, expect, it } from "@effect/vitest"
import { timeWords } from "../../src/synthesis/WordTimes.ts"
import { spokenForm } from "../../src/text/SpokenForm.ts"
import type { Replacement } from "../../src/text/SpokenForm.ts"

/** An engine that speaks each word of the spoken form for 100 ms. */
const timed = (content: string, replacements: ReadonlyArray<Replacement>, plain = content) => {
  const form = spokenForm(plain, replacements)
  const heard = [...form.text.matchAll(/\S+/g)].map((match, i) => ({
    text: match[0],
    from: match.index,
    to: match.index + match[0].length,
    startMs: i * 100,
    endMs: i * 100 + 100,
    exact: true
  }))
  return timeWords({ content, plain, form }, heard, 10_000).map(({ endMs, exact, startMs, text }) => [
    text,
    startMs,
    endMs,
    exact
  ])
}

describe("timeWords", () => {
  it("makes one word of the spoken words of one written word, punctuation included", () => {
    expect(timed("Pay $3.50, now", [{ from: 4, to: 9, spoken: "three dollars and fifty cents" }])).toEqual([
      ["Pay", 0, 100, true],
      ["$3.50,", 100, 600, true],
      ["now", 600, 700, true]
    ])
  })

  it("gives two written words their own spoken ones where they pair up", () => {
    expect(timed("for 5 km.", [{ from: 4, to: 8, spoken: "five kilometers" }])).toEqual([
      ["for", 0, 100, true],
      ["5", 100, 200, true],
      ["km.", 200, 300, true]
    ])
  })

  it("shares by letters where they do not, and says so", () => {
    const words = timed("on May 3 2025", [{ from: 3, to: 13, spoken: "May third twenty twenty-five" }])
    expect(words.map(([text, , , exact]) => [text, exact])).toEqual([
      ["on", true],
      ["May", false],
      ["3", false],
      ["2025", false]
    ])
    expect(words.at(-1)?.[2]).toBe(500)
  })

  it("leaves out what is not spoken", () => {
    expect(timed("(happy) Hi 🎉", [], "        Hi   ")).toEqual([["Hi", 0, 100, true]])
  })
})
