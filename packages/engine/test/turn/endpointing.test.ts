import { assert, describe, it } from "@effect/vitest"
import { defaultRules } from "../../src/CallPlan.ts"
import { isIgnored, mayBeIgnored } from "../../src/turn/ignorePhrases.ts"
import { waitAfter } from "../../src/turn/endpointing.ts"

describe("the wait for the end of a turn", () => {
  it.each([
    ["I would like an appointment", 550],
    ["I would like an appointment.", 550],
    ["I would like an", 1375],
    ["I would like to come on monday and", 1375],
    ["my number is five five five", 1375],
    ["it is um", 1650],
    ["well,", 1100],
    ["", 550]
  ])("after %j is %d ms", (text, wait) => {
    assert.strictEqual(waitAfter(text, defaultRules), wait)
  })

  it("never exceeds response_max_wait_ms, nor falls below response_wait_ms", () => {
    assert.strictEqual(waitAfter("and", { ...defaultRules, responseMaxWaitMs: 800 }), 800)
    assert.strictEqual(waitAfter("and", { ...defaultRules, responseMaxWaitMs: 0 }), 550)
  })

  it("follows the agent's eagerness", () => {
    assert.strictEqual(waitAfter("yes", { ...defaultRules, eagerness: "eager" }), 385)
    assert.strictEqual(waitAfter("yes", { ...defaultRules, eagerness: "relaxed" }), 825)
  })
})

describe("ignored phrases", () => {
  it.each([
    ["uh huh", true],
    ["Uh huh.", true],
    ["okay, uh huh", true],
    ["okay stop", false],
    ["", false],
    ["huh", false]
  ])("%j: %s", (text, ignored) => {
    assert.strictEqual(isIgnored(text, ["uh huh", "okay"]), ignored)
  })

  it("may still become one while it is being spoken", () => {
    assert.isTrue(mayBeIgnored("uh", ["uh huh"]))
    assert.isTrue(mayBeIgnored("okay uh", ["uh huh", "okay"]))
    assert.isFalse(mayBeIgnored("okay stop", ["uh huh", "okay"]))
    assert.isFalse(mayBeIgnored("anything", []))
  })
})
