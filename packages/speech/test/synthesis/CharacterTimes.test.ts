import { describe, expect, it } from "@effect/vitest"
import { characterTimes } from "../../src/synthesis/CharacterTimes.ts"
import { timeWords } from "../../src/synthesis/WordTimes.ts"
import { spokenForm } from "../../src/text/SpokenForm.ts"
import { nonsense } from "../text/Arbitrary.ts"

const rises = (times: ReadonlyArray<number>) => times.every((time, i) => i === 0 || time >= (times[i - 1] ?? 0))

describe("characterTimes", () => {
  it("shares a word's time among its characters and a gap's among its blanks", () => {
    const words = [
      { from: 0, to: 2, startMs: 100, endMs: 300 },
      { from: 4, to: 6, startMs: 400, endMs: 600 }
    ]
    expect(characterTimes("Hi  😀.", words.with(1, { ...words[1]!, to: 7 }), 700)).toEqual({
      characters: ["H", "i", " ", " ", "😀", "."],
      startsMs: [100, 200, 300, 350, 400, 500],
      endsMs: [200, 300, 350, 400, 500, 600]
    })
  })

  it("spreads a text without words over its sound", () => {
    expect(characterTimes("...", [], 300)).toEqual({
      characters: [".", ".", "."],
      startsMs: [0, 100, 200],
      endsMs: [100, 200, 300]
    })
    expect(characterTimes("", [], 300)).toEqual({ characters: [], startsMs: [], endsMs: [] })
  })

  it("spells any text on one timeline within the sound", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const content = nonsense(seed)
      const words = timeWords({ content, plain: content, form: spokenForm(content, []) }, [], 1000)
      const { characters, endsMs, startsMs } = characterTimes(content, words, 1000)
      expect(characters.join("")).toBe(content)
      expect(characters.every((character) => [...character].length === 1)).toBe(true)
      expect(rises(startsMs) && rises(endsMs)).toBe(true)
      expect(startsMs.every((start, i) => start >= 0 && start <= (endsMs[i] ?? 0))).toBe(true)
      expect(Math.max(0, ...endsMs)).toBeLessThanOrEqual(1000)
    }
  })
})
