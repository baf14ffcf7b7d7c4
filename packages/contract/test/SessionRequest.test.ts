import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { faultsOf } from "../src/Fault.ts"
import { readVariables, SessionCreate } from "../src/SessionRequest.ts"
import { resolveTimezone } from "../src/Timezone.ts"

const placeOf = (body: Record<string, unknown>): string | undefined => {
  const decoded = Schema.decodeUnknownResult(SessionCreate)({ agent_id: "a", ...body }, { onExcessProperty: "error" })
  return Result.isFailure(decoded) ? faultsOf(decoded.failure.issue, "body")[0]?.loc.slice(1).join(".") : undefined
}

describe("SessionCreate", () => {
  it.each([
    ["bogus", { bogus: 1 }],
    ["name", { name: "x".repeat(129) }],
    ["timezone", { timezone: "Nowhere/City" }],
    ["timezone", { timezone: "x".repeat(65) }],
    ["end_user_id", { end_user_id: "x".repeat(257) }],
    ["metadata", { metadata: [] }],
    ["metadata", { metadata: "x" }],
    ["llm_extra_body", { llm_extra_body: { a: "x".repeat(16 * 1024) } }],
    ["overrides.bogus", { overrides: { bogus: "x" } }],
    ["overrides.first_message_prompt", { overrides: { first_message: "a", first_message_prompt: "b" } }],
    ["overrides.first_message", { overrides: { first_message: "x".repeat(10_001) } }],
    ["overrides.voice_id", { overrides: { voice_id: "x".repeat(257) } }],
    ["overrides.language", { overrides: { language: "xx" } }],
    ["dynamic_variables", { dynamic_variables: [] }],
    ["record_audio", { record_audio: "yes" }]
  ])("names %s when it refuses", (place, body) => assert.strictEqual(placeOf(body), place))

  it.each([
    { client_timezone: "nonsense" },
    { client_timezone: 5 },
    { name: null, metadata: null, overrides: null },
    { llm_extra_body: { a: "x".repeat(16_000) } },
    { metadata: { deep: [{ a: null, "\u0000": "\ud800" }] } },
    { dynamic_variables: { "1bad": {}, fine: null } }
  ])("takes %j", (body) => assert.strictEqual(placeOf(body), undefined))

  it("drops bad variables one by one and reads the first 50", () => {
    const given = {
      good: "a",
      "bad-name": "b",
      "1": "c",
      n: 1.5,
      b: false,
      nan: Number.NaN,
      o: {},
      nul: null,
      long: "x".repeat(1001)
    }
    assert.deepStrictEqual(readVariables(given), { good: "a", n: 1.5, b: false })
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`v${n}`, n]))
    assert.strictEqual(Object.keys(readVariables(many)).length, 50)
  })

  it("finds the time zone in order", () => {
    const client = "Asia/Tokyo"
    assert.strictEqual(resolveTimezone({ request: "Europe/Paris", agent: "UTC", client }), "Europe/Paris")
    assert.strictEqual(resolveTimezone({ request: undefined, agent: "Europe/Rome", client }), "Europe/Rome")
    assert.strictEqual(resolveTimezone({ request: undefined, agent: "", client }), client)
    assert.strictEqual(resolveTimezone({ request: undefined, agent: "", client: "x".repeat(80) }), "UTC")
    assert.strictEqual(resolveTimezone({ request: undefined, agent: "", client: undefined }), "UTC")
  })
})
