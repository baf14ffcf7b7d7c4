import type { Analysis } from "@parley/contract/AgentConfig/Analysis"
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { answerOf, questionOf } from "../../src/analysis/question.ts"

const wanted: Analysis = {
  summary: { enabled: true, prompt: "", language: "de" },
  data_fields: [
    { name: "city", type: "text", description: "Where", enum_options: [] },
    { name: "guests", type: "number", description: "", enum_options: [] },
    { name: "happy", type: "boolean", description: "", enum_options: [] },
    { name: "plan", type: "enum", description: "", enum_options: ["basic", "pro"] }
  ],
  criteria: [{ name: "booked", description: "A table was booked" }]
}

const answered = (text: string) => {
  const answer = answerOf(wanted, text)
  if (Result.isFailure(answer)) throw new Error(answer.failure)
  return answer.success
}

describe("the question about a call", () => {
  it("names what is wanted, the language, and keeps the transcript apart from the instructions", () => {
    const [system, user] = questionOf(wanted, [
      { role: "assistant", content: "Hello" },
      { role: "user", content: "A table for two" }
    ])
    expect(system?.content).toMatch(/language "de"/)
    for (const name of ["city", "guests", "happy", "plan", "booked"]) expect(system?.content).toContain(`"${name}"`)
    expect(user?.content).toBe("Agent: Hello\nCaller: A table for two")
  })

  it("shows the beginning and the end of a very long call", () => {
    const long = questionOf(wanted, [
      { role: "user", content: `first ${"x".repeat(200_000)}` },
      { role: "user", content: "last" }
    ])
    expect(long[1]?.content.length).toBeLessThan(70_000)
    expect(long[1]?.content).toMatch(/^Caller: first[^]*last$/)
  })
})

describe("the answer", () => {
  it("is taken out of whatever is around it", () => {
    const text =
      'Sure!\n```json\n{"summary": " Kurz. ", "data": {"city": {"value": "Bonn", "rationale": "said so"}}}\n```'
    expect(answered(text)).toMatchObject({
      summary: "Kurz.",
      data: [{ name: "city", value: "Bonn", rationale: "said so" }, {}, {}, {}]
    })
  })

  it.each([
    ["city", 5, "5"],
    ["city", { a: 1 }, null],
    ["guests", "12", 12],
    ["guests", "many", null],
    ["guests", "", null],
    ["happy", "true", true],
    ["happy", 1, null],
    ["plan", "pro", "pro"],
    ["plan", "gold", null]
  ])("%s: %o becomes %o", (name, value, expected) => {
    const { data } = answered(JSON.stringify({ data: { [name]: { value } } }))
    expect(data.find((field) => field.name === name)?.value).toBe(expected)
  })

  it("takes a bare value, and no criterion for more than it says", () => {
    const { criteria, data } = answered('{"data": {"guests": 3}, "criteria": {"booked": {"result": "perhaps"}}}')
    expect(data[1]?.value).toBe(3)
    expect(criteria).toEqual([{ name: "booked", result: "unknown", rationale: "" }])
    expect(answered('{"criteria": {"booked": {"result": "success", "rationale": "r"}}}').criteria[0]?.result).toBe(
      "success"
    )
  })

  it.each(["", "I cannot do that", "{", "[1]", '"text"', '{"a": }'])("%o is none", (text) => {
    expect(Result.isFailure(answerOf(wanted, text))).toBe(true)
  })
})
