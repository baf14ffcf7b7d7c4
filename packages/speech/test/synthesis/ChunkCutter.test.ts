import { describe, expect, it } from "@effect/vitest"
import { ChunkCutter } from "../../src/synthesis/ChunkCutter.ts"
import type { ChunkRules } from "../../src/synthesis/ChunkCutter.ts"
import { makeRandom, nonsense } from "../text/Arbitrary.ts"

const plain: ChunkRules = { chunkLength: 200, minChunkLength: 0, cues: "none" }

const cut = (text: string, rules: Partial<ChunkRules> = {}): ReadonlyArray<string> => {
  const cutter = new ChunkCutter({ ...plain, ...rules })
  return [...cutter.push(text), ...cutter.flush()].map(({ content }) => content)
}

describe("ChunkCutter", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["One. Two! Three?", ["One. ", "Two! ", "Three?"]],
    [
      "Dr. Smith met Mr. J. Doe at 5 p.m. yesterday. He left.",
      ["Dr. Smith met Mr. J. Doe at 5 p.m. yesterday. ", "He left."]
    ],
    ["It is 3.14 or so. Yes.", ["It is 3.14 or so. ", "Yes."]],
    ["“Really?” she asked. “Yes.” Then she left.", ["“Really?” ", "she asked. ", "“Yes.” ", "Then she left."]],
    ["Am 3. Mai kommt er. Gut.", ["Am 3. Mai kommt er. ", "Gut."]],
    ["Es war z. B. so. Ende.", ["Es war z. B. so. ", "Ende."]],
    ["I have 3. You have 4.", ["I have 3. ", "You have 4."]],
    ["你好。再见。", ["你好。", "再见。"]],
    ["Hello world. 😀", ["Hello world. 😀"]],
    ["... Hello.", ["... Hello."]],
    ["Line one\nLine two", ["Line one\n", "Line two"]],
    ["", []],
    ["🎉", ["🎉"]]
  ])("cuts %j at its sentences", (text, chunks) => {
    expect(cut(text)).toEqual(chunks)
  })

  it("keeps short sentences together", () => {
    expect(cut("No. Yes. That is all that there is to say here. Bye.", { minChunkLength: 20 })).toEqual([
      "No. Yes. That is all that there is to say here. ",
      "Bye."
    ])
  })

  it("starts early at a clause, once, and again after a flush", () => {
    const cutter = new ChunkCutter({ ...plain, minChunkLength: 50, early: { clauseFrom: 12, firstLongest: 60 } })
    const text = "Good morning everybody, and thank you for coming, all of you. "
    expect(cutter.push(text).map(({ content, first }) => [content, first])).toEqual([
      ["Good morning everybody, ", true]
    ])
    expect(cutter.flush().map(({ content, first }) => [content, first])).toEqual([
      ["and thank you for coming, all of you. ", false]
    ])
    expect(cutter.push(text)[0]).toMatchObject({ content: "Good morning everybody, ", first: true })
  })

  it("does not let a long first sentence wait", () => {
    const [first = ""] = cut(
      "The old man with the grey coat walked slowly along the river because he liked the view of it",
      {
        early: { clauseFrom: 12, firstLongest: 70 }
      }
    )
    expect(first).toBe("The old man with the grey coat walked slowly along the river ")
  })

  it("speaks a sentence as soon as it is over, whatever way the text comes", () => {
    const cutter = new ChunkCutter(plain)
    expect(cutter.push("Hel")).toEqual([])
    expect(cutter.push("lo there.")).toEqual([])
    expect(cutter.push(" ").map(({ content }) => content)).toEqual(["Hello there. "])
  })

  it("gives each speaker chunks of their own", () => {
    const cutter = new ChunkCutter({ ...plain, minChunkLength: 50 })
    const cuts = [
      ...cutter.push("<|speaker:0|>Hi there<|speaker:1|>Hello<|speaker:2|><|speaker:0|>Bye"),
      ...cutter.flush()
    ]
    expect(cuts.map(({ content, speaker }) => [content, speaker])).toEqual([
      ["<|speaker:0|>Hi there", 0],
      ["<|speaker:1|>Hello", 1],
      ["<|speaker:2|><|speaker:0|>Bye", 0]
    ])
  })

  it("waits for the rest of a tag that arrives in pieces", () => {
    const cutter = new ChunkCutter({ ...plain, early: { clauseFrom: 2, firstLongest: 12 } })
    const cuts = [..."Hello dear, you<|speaker:1|>Yes, I am."].flatMap((letter) => cutter.push(letter))
    expect([...cuts, ...cutter.flush()].map(({ content, speaker }) => [content, speaker])).toEqual([
      ["Hello dear, ", 0],
      ["you", 0],
      ["<|speaker:1|>Yes, I am.", 1]
    ])
  })

  it("cuts nothing inside a stage direction or a number", () => {
    const text =
      "[in a soft, low voice. Slowly] Hello. " + "a".repeat(80) + " 1 000 000 000 000 000 000 000 000 and more"
    for (const chunk of cut(text, { chunkLength: 100, cues: "brackets" })) {
      expect(chunk).not.toMatch(/^[^[]*\]/)
      expect(chunk).not.toMatch(/\d\s?$/)
    }
  })

  it("keeps a number and its unit, a title and its name together where it can", () => {
    const filler = "word ".repeat(18)
    expect(cut(`${filler}about 25 km further on`, { chunkLength: 100 })[0]).toBe(`${filler}about `)
    expect(cut(`${filler}on May 25 at noon`, { chunkLength: 98 })[0]).toBe(`${filler}on `)
    expect(cut(`${filler}with Dr. Livingstone then`, { chunkLength: 100 })[0]).toBe(`${filler}with `)
  })

  it("gives back exactly the text, in bounded chunks of whole characters, for any text in any pieces", () => {
    for (let seed = 1; seed <= 1500; seed++) {
      const { next, pick } = makeRandom(seed)
      const text = nonsense(seed)
      const cutter = new ChunkCutter({
        chunkLength: 100 + next(200),
        minChunkLength: next(100),
        early: pick([undefined, { clauseFrom: 12, firstLongest: 60 }]),
        cues: pick(["none", "brackets", "parentheses"] as const)
      })
      const chunks: Array<string> = []
      for (let at = 0; at < text.length;) {
        const size = 1 + next(text.length)
        chunks.push(...cutter.push(text.slice(at, at + size)).map(({ content }) => content))
        if (next(5) === 0) chunks.push(...cutter.flush().map(({ content }) => content))
        at += size
      }
      chunks.push(...cutter.flush().map(({ content }) => content))
      expect(chunks.join("")).toBe(text)
      expect(chunks.every((chunk) => chunk !== "")).toBe(true)
      for (const chunk of cut(text)) {
        expect(/[\p{L}\p{N}]/u.test(chunk) ? chunk.search(/[\p{L}\p{N}]/u) + 208 : Infinity).toBeGreaterThan(0)
        expect(/[\uD800-\uDBFF]$/.test(chunk) && !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(text)).toBe(false)
      }
    }
  })

  it("takes a text without any blank, or of blanks alone, in linear time", () => {
    for (const letter of ["x", " ", ".", "(", "<"]) {
      const text = letter.repeat(100_000)
      expect(cut(text, { cues: "parentheses" }).join("")).toBe(text)
    }
  })
})
