import { assert, describe, it } from "@effect/vitest"
import { SpokenText } from "../../src/playout/SpokenText.ts"

const rate = 1_000

const made = () => {
  const told: Array<string> = []
  return { told, spoken: new SpokenText(rate, (_, delta) => told.push(delta)) }
}

describe("spoken text", () => {
  it("is told word by word at the synthesizer's times, and recorded as told", () => {
    const { spoken, told } = made()
    spoken.begin("a", "Hello big world. ", 0)
    spoken.words(
      [
        { text: "Hello", from: 0, to: 5, startMs: 0, endMs: 400, exact: true },
        { text: "big", from: 6, to: 9, startMs: 400, endMs: 600, exact: true },
        { text: "world", from: 10, to: 15, startMs: 600, endMs: 1_000, exact: true }
      ],
      0
    )
    spoken.finish(1_000)
    spoken.advance(199)
    assert.deepStrictEqual(told, [])
    spoken.advance(200)
    spoken.advance(799)
    assert.deepStrictEqual(told, ["Hello", " big"])
    assert.deepStrictEqual(spoken.heard(), [{ segment: "a", text: "Hello big" }])
    spoken.advance(1_000)
    assert.strictEqual(told.join(""), "Hello big world. ")
  })

  it("without word times is told in proportion", () => {
    const { spoken } = made()
    spoken.begin("a", "one two three four", 0)
    spoken.finish(1_800)
    spoken.advance(900)
    assert.deepStrictEqual(spoken.heard(), [{ segment: "a", text: "one two" }])
  })

  it("keeps segments apart, and forgets what was never made", () => {
    const { spoken } = made()
    spoken.begin("a", "First. ", 0)
    spoken.finish(500)
    spoken.begin("b", "Never made at all.", 500)
    spoken.breakOff(500)
    spoken.advance(10_000)
    assert.deepStrictEqual(spoken.heard(), [
      { segment: "a", text: "First." },
      { segment: "b", text: "" }
    ])
  })
})
