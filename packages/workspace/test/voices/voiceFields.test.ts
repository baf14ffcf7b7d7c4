import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { signaturesOf, tagsOf, textsOf } from "../../src/voices/voiceFields.ts"

describe("voiceFields", () => {
  it.each([
    [undefined, []],
    [null, []],
    ["", []],
    ["calm", ["calm"]],
    ["calm, deep,,calm", ["calm", "deep"]],
    [
      ["calm, deep", " x "],
      ["calm, deep", "x"]
    ]
  ])("reads tags %j", (value, tags) => assert.deepStrictEqual(Effect.runSync(tagsOf(value)), tags))

  it.each([
    [undefined, 2, ["", ""]],
    ["Hello, world.", 1, ["Hello, world."]],
    ["one,two", 2, ["one", "two"]],
    ["Hello, world, again", 2, ["Hello, world, again", ""]],
    [["a", "b"], 3, ["a", "b", ""]],
    [["a, b"], 2, ["a, b", ""]]
  ])("reads texts %j of %d recordings", (value, count, texts) =>
    assert.deepStrictEqual(Effect.runSync(textsOf(value, count)), texts)
  )

  it.each([
    [undefined, 2, []],
    ["s", 1, ["s"]],
    ["s,t", 2, ["s", "t"]],
    [["s", "t"], 2, ["s", "t"]]
  ])("reads signatures %j of %d recordings", (value, count, signatures) =>
    assert.deepStrictEqual(Effect.runSync(signaturesOf(value, count)), signatures)
  )

  it("refuses what does not fit, and names the field", () => {
    const refusals = [
      [tagsOf(Array.from({ length: 51 }, (_, i) => `t${i}`)), "tags"],
      [tagsOf("x".repeat(101)), "tags"],
      [textsOf(["a", "b"], 1), "texts"],
      [signaturesOf(["a"], 2), "voice_design_signatures"],
      [signaturesOf(["a", "b"], 1), "voice_design_signatures"]
    ] as const
    for (const [attempt, field] of refusals) {
      const { errors, status } = Effect.runSync(
        Effect.flip(attempt as Effect.Effect<unknown, Effect.Error<typeof attempt>>)
      )
      assert.deepStrictEqual([status, errors[0]?.loc], [422, ["body", field]])
    }
  })
})
