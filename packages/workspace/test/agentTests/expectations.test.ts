import { assert, describe, it } from "@effect/vitest"
import type { Expectation } from "@parley/contract/AgentTest"
import { type Criterion, type Observed, questionsOf, checkExpectation } from "../../src/agentTests/expectations.ts"

const observed: Observed = {
  replies: ["Good day!", "Your  Booking number is SEVEN."],
  calls: [
    { names: ["book_table", "Book table"], input: '{"day":"Monday","seats":3,"note":{"a":1}}' },
    { names: ["book_table", "Book table"], input: "{" },
    { names: ["hang_up_call"], input: "{}" }
  ]
}

type Plain = Exclude<Expectation, Criterion>

const cases: ReadonlyArray<readonly [expectation: Plain, passed: boolean, reason: string]> = [
  [{ type: "reply_contains", text: "booking number" }, true, "reply 2 contains it"],
  [{ type: "reply_contains", text: "eight" }, false, "no reply contains it"],
  [{ type: "reply_not_contains", text: "good  DAY" }, false, "reply 1 contains it"],
  [{ type: "reply_not_contains", text: "sorry" }, true, "no reply contains it"],
  [{ type: "tool_called", tool_name: "book_table" }, true, "it was called 2 times"],
  [{ type: "tool_called", tool_name: "Book table", arguments: { day: "monday" } }, true, "it was called 2 times"],
  [{ type: "tool_called", tool_name: "book_table", arguments: { seats: "3" } }, true, "it was called 2 times"],
  [
    { type: "tool_called", tool_name: "book_table", arguments: { day: "Monday", seats: 4 } },
    false,
    "it was called 2 times, never with these arguments"
  ],
  [
    { type: "tool_called", tool_name: "book_table", arguments: { note: "[object Object]" } },
    false,
    "it was called 2 times, never with these arguments"
  ],
  [
    { type: "tool_called", tool_name: "book_table", arguments: { toString: "x" } },
    false,
    "it was called 2 times, never with these arguments"
  ],
  [{ type: "tool_called", tool_name: "cancel" }, false, "it was not called"],
  [{ type: "tool_not_called", tool_name: "cancel" }, true, "it was not called"],
  [{ type: "tool_not_called", tool_name: "hang_up_call" }, false, "it was called once"]
]

describe("checkExpectation", () => {
  it.each(cases)("%j is %s", (expectation, passed, reason) =>
    assert.deepStrictEqual(checkExpectation(expectation, observed), { expectation, passed, reason })
  )
})

describe("questionsOf", () => {
  it("asks for each criterion and nothing else", () => {
    const asked = questionsOf([{ type: "criterion", description: "is kind" }])
    assert.deepStrictEqual(asked.criteria, [{ name: "criterion_1", description: "is kind" }])
    assert.isFalse(asked.summary.enabled)
  })
})
