import { assert, describe, it } from "@effect/vitest"
import { chunksOf } from "../../src/knowledge/chunks.ts"

const words = (text: string) => text.split(/\s+/).filter((word) => word !== "")

const sentence = (n: number) => `Sentence number ${n} says something that is worth knowing about it.`
const prose = (n: number) => Array.from({ length: n }, (_, i) => sentence(i)).join(" ")

describe("chunksOf", () => {
  it("keeps the path of headings, and closes it where a higher one begins", () => {
    const document =
      "Intro.\n\n# Shop\n\n## Hours\nOpen at nine.\n\n### Sunday ###\nClosed.\n\n## Way\r\nBy tram.\n# Staff\n"
    assert.deepStrictEqual(chunksOf(document), [
      { heading: "", content: "Intro." },
      { heading: "Shop > Hours", content: "Open at nine." },
      { heading: "Shop > Hours > Sunday", content: "Closed." },
      { heading: "Shop > Way", content: "By tram." },
      { heading: "Staff", content: "Staff" }
    ])
  })

  it("takes no comment in code for a heading", () => {
    const document = "# Setup\n\n```sh\n# not a heading\nrun\n```\n\n#hashtag\n\n# Next\nx"
    assert.deepStrictEqual(
      chunksOf(document).map(({ heading }) => heading),
      ["Setup", "Next"]
    )
  })

  it("puts paragraphs together and cuts long ones, losing no word", () => {
    const document = ["Short one.", "Short two.", prose(60), "x".repeat(3000), "汉".repeat(1500), "End."].join("\n\n")
    const chunks = chunksOf(document)
    assert.isAbove(chunks.length, 5)
    for (const { content } of chunks) {
      assert.isAtMost(content.length, 1200)
      assert.isTrue(content.isWellFormed())
    }
    assert.match(chunks[0]?.content ?? "", /^Short one\.\n\nShort two\.$/)
    assert.match(chunks[1]?.content ?? "", /\.$/)
    assert.strictEqual(
      chunks
        .map(({ content }) => content)
        .join("")
        .replace(/\s/g, ""),
      document.replace(/\s/g, "")
    )
    assert.deepStrictEqual(
      words(
        chunks
          .slice(1, -1)
          .map(({ content }) => content)
          .join(" ")
      ).slice(0, 20),
      words(prose(3)).slice(0, 20)
    )
  })

  it("cuts no character in half", () => {
    for (const { content } of chunksOf(`a${"😀".repeat(2000)}`)) assert.isTrue(content.isWellFormed())
  })

  it("makes nothing of nothing", () => {
    assert.deepStrictEqual(chunksOf("\n \n\t\n"), [])
  })

  it("makes no more than some thousands of a megabyte of anything", () => {
    for (const line of ["#".repeat(6), "```", "a", " ", "\n", "# a\n", "# a\n\nb.\n\n", "a.\n\n"]) {
      assert.isAtMost(chunksOf(line.repeat(Math.floor(1_048_576 / line.length))).length, 4000)
    }
  })
})
