// The pieces of the telephone that need no network.
import type { OpenSecrets } from "@parley/workspace/storage/SecretBox"
import { secretOwner } from "@parley/workspace/storage/SecretOwner"
import { assert, describe, it } from "@effect/vitest"
import type { PhoneCallCreate } from "@parley/contract/PhoneCall"
import type { PhoneLine } from "@parley/workspace/phone/PhoneLines"
import type { StoredTrunk } from "@parley/workspace/phone/Trunk"
import { destinationFault } from "@parley/workspace/dialling/destinationFault"
import { dialledNumbers } from "@parley/workspace/phone/dialledNumbers"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { callFault } from "../../src/phone/dialRules.ts"
import { CallTraces } from "../../src/phone/CallTraces.ts"
import { headersOf, inboundTrunk, outboundTrunk } from "../../src/phone/trunks.ts"

const trunk: StoredTrunk = {
  inbound: { username: "in", password: "sealed-in" },
  allowedAddresses: ["203.0.113.7"],
  uri: "sip.carrier.example",
  transport: "auto",
  termination: { username: "out", password: "sealed-out" },
  headers: { "X-Account": "7", "x-campaign": "old" }
}
const line: PhoneLine = {
  id: "phone_1",
  workspaceId: "ws",
  phoneNumber: "+14155550100",
  provider: "sip",
  status: "active",
  agentId: null,
  showsOriginalCaller: false,
  trunk,
  trunkOwner: secretOwner.number("phone_1")
}
const secretsOf: OpenSecrets = (owner) => ({ open: (sealed) => Redacted.make(`opened ${sealed} of ${owner}`) })

describe("trunks", () => {
  it("opens passwords for the server, and lets nobody in without a factor", () => {
    const inbound = inboundTrunk(line, secretsOf)
    assert.deepInclude(inbound, { id: "phone_1", allowedAddresses: ["203.0.113.7"] })
    assert.strictEqual(
      inbound?.digest && Redacted.value(inbound.digest.password),
      "opened sealed-in of phone_numbers.trunk/phone_1"
    )
    assert.isUndefined(inboundTrunk({ ...line, trunk: undefined }, secretsOf))
    assert.isUndefined(inboundTrunk({ ...line, trunk: { ...trunk, inbound: null, allowedAddresses: [] } }, secretsOf))
    assert.isUndefined(inboundTrunk({ ...line, trunk: { ...trunk, inbound: null } }, secretsOf)?.digest)
  })

  it("places calls only where there is a termination", () => {
    const outbound = outboundTrunk(line, secretsOf)
    assert.deepInclude(outbound, { uri: "sip.carrier.example", transport: "auto" })
    assert.strictEqual(outbound?.credentials?.username, "out")
    assert.isUndefined(outboundTrunk({ ...line, trunk: { ...trunk, uri: "" } }, secretsOf))
  })

  it("adds the call's headers to the number's, and the session's id", () => {
    assert.deepStrictEqual(headersOf(line, { "X-Campaign": "new" }, { sessionId: "s", vendor: "fine-voice" }), {
      "X-Account": "7",
      "X-Campaign": "new",
      "X-Fine-Voice-Session-Id": "s"
    })
  })
})

describe("callFault", () => {
  const request: PhoneCallCreate = { agent_id: "a", phone_number_id: "p", to_number: "+442079460123" }
  const rules = { countries: ["US", "CA"], isOwn: false }
  const managed: Partial<PhoneLine> = { provider: "carrier" }
  const faultOf = (from: PhoneLine, asked: PhoneCallCreate, { countries, isOwn }: typeof rules) => {
    const destination = destinationFault(from.provider, asked.to_number, { countries, isOwn })
    return callFault(from, asked, { countries, vendor: "vendor", destination })
  }
  it.each([
    ["none", {}, {}, {}],
    ["none", managed, { to_number: "+14165550123" }, {}],
    ["none", {}, { to_number: "+19005550123" }, {}],
    ["none", {}, { sip_headers: { "X-A": "1" } }, {}],
    ["number_provider_unsupported", { provider: "livekit" }, {}, {}],
    ["number_inactive", { status: "error" }, { to_number: "x" }, {}],
    ["number_inactive", { status: "provisioning" }, {}, {}],
    ["number_termination_missing", { trunk: { ...trunk, uri: "" } }, { to_number: "x" }, {}],
    ["number_termination_missing", { trunk: undefined }, {}, {}],
    ["sip_headers_unsupported", managed, { sip_headers: { "X-A": "1" } }, {}],
    ["none", managed, { to_number: "+14165550123", sip_headers: {} }, {}],
    ["destination_invalid", {}, { to_number: "02079460123" }, {}],
    ["destination_invalid", managed, { to_number: "" }, {}],
    ["self_call_blocked", {}, {}, { isOwn: true }],
    ["premium_destination_blocked", managed, { to_number: "+447012345678" }, {}],
    ["destination_not_allowed", managed, {}, {}],
    ["destination_not_allowed", managed, { to_number: "+18765550123" }, {}],
    ["none", managed, {}, { countries: ["GB"] }]
  ] as ReadonlyArray<readonly [string, Partial<PhoneLine>, Partial<PhoneCallCreate>, Partial<typeof rules>]>)(
    "%s",
    (reason, about, input, more) => {
      const fault = faultOf({ ...line, ...about }, { ...request, ...input }, { ...rules, ...more })
      assert.strictEqual(fault?.reason ?? "none", reason)
    }
  )

  it("names the countries that may be called", () => {
    const fault = faultOf({ ...line, ...managed }, request, rules)
    assert.strictEqual(fault?.message, "to_number: must be in one of US, CA")
  })
})

describe("dialledNumbers", () => {
  it.each([
    ["+14155550123", ["+14155550123"]],
    ["14155550123", ["+14155550123"]],
    ["0014155550123", ["+14155550123", "+0014155550123"]],
    ["01144207946012", ["+44207946012", "+01144207946012"]],
    ["4155550123", ["+4155550123", "+14155550123"]],
    ["tel:+1-415-555-0123;npdi", ["+14155550123"]],
    ["sip:+14155550123@us.example", ["+14155550123"]],
    ["(415) 555 0123", ["+4155550123", "+14155550123"]],
    ["anonymous", []],
    ["", []],
    ["+1'; DROP TABLE", []],
    ["1".repeat(21), []]
  ])("%s", (raw, numbers) => assert.deepStrictEqual(dialledNumbers(raw), numbers))
})

describe("CallTraces", () => {
  const rung = [{ atMs: 0, direction: "in", what: "INVITE", detail: "" }] as const

  it.effect("gives a trace to whoever asks for it, before or after it is told, and keeps it no longer", () =>
    Effect.gen(function* () {
      const traces = new CallTraces()
      traces.tell("one", rung)
      assert.deepStrictEqual(yield* traces.of("one"), rung)
      const asked = yield* Effect.forkChild(traces.of("two"), { startImmediately: true })
      traces.tell("two", rung)
      traces.tell("two", [])
      assert.deepStrictEqual(yield* Fiber.join(asked), rung)
    })
  )

  it.effect("answers with nothing when no trace comes", () =>
    Effect.gen(function* () {
      const asked = yield* Effect.forkChild(new CallTraces().of("one"), { startImmediately: true })
      yield* TestClock.adjust("40 seconds")
      assert.deepStrictEqual(yield* Fiber.join(asked), [])
    })
  )

  it.effect("forgets what nobody asks for, oldest first", () =>
    Effect.gen(function* () {
      const traces = new CallTraces()
      for (let n = 0; n < 1001; n++) traces.tell(`call ${n}`, rung)
      const oldest = yield* Effect.forkChild(traces.of("call 0"), { startImmediately: true })
      assert.deepStrictEqual(yield* traces.of("call 1000"), rung)
      yield* TestClock.adjust("40 seconds")
      assert.deepStrictEqual(yield* Fiber.join(oldest), [])
    })
  )
})
