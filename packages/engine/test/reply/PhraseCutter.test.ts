import { assert, describe, it } from "@effect/vitest"
import { PhraseCutter, speakable } from "../../src/reply/PhraseCutter.ts"

const cut = (text: string, size: number): Array<string> => {
  const cutter = new PhraseCutter()
  const phrases: Array<string> = []
  for (let i = 0; i < text.length; i += size) phrases.push(...cutter.push(text.slice(i, i + size)))
  return [...phrases, cutter.finish()].filter((phrase) => phrase !== "")
}

describe("phrases", () => {
  it.each([
    ["Hello. How are you? Fine.", ["Hello. ", "How are you? ", "Fine."]],
    ["It costs 3.50 today. Yes.", ["It costs 3.50 today. ", "Yes."]],
    ["Dr. Miller is in. Come.", ["Dr. Miller is in. ", "Come."]],
    ["We open at 9 a.m. on Monday. Bye.", ["We open at 9 a.m. on Monday. ", "Bye."]],
    ["Well, yes and no, as you like it. So.", ["Well, yes and no, ", "as you like it. ", "So."]],
    ["One\nTwo\n", ["One\n", "Two\n"]]
  ])("of %j", (text, phrases) => {
    assert.deepStrictEqual(cut(text, 1), phrases)
  })

  it("joined are the text, however it came in", () => {
    const text = `${"A rather long sentence without any end, which goes on and on ".repeat(12)}. Then (this)! "Why?" 1.2.3 …`
    for (const size of [1, 2, 3, 7, 50, 1_000]) {
      assert.strictEqual(cut(text, size).join(""), text)
      for (const phrase of cut(text, size)) assert.isAtMost(phrase.length, 300)
    }
  })

  it("are spoken without marks of writing, every position kept", () => {
    assert.strictEqual(speakable("**Bold** and `code`"), "  Bold   and  code ")
  })
})
