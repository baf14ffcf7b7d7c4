import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { faultsOf } from "../src/Fault.ts"
import { PhoneCallCreate, PhoneCallHeaders } from "../src/PhoneCall.ts"
import { AvailableQuery, createFaults, PhoneNumberCreate, PhoneNumberPatch, SipConfigPut } from "../src/PhoneNumber.ts"
import { sipHeaderFaults, trunkFaults } from "../src/SipTrunk.ts"

const placeIn = (schema: Schema.Codec<unknown, unknown>, body: unknown): string | undefined => {
  const decoded = Schema.decodeUnknownResult(schema)(body, { onExcessProperty: "error" })
  return Result.isFailure(decoded)
    ? (faultsOf(decoded.failure.issue, "body")[0]?.loc.slice(1).join(".") ?? "")
    : undefined
}

const create = (more: Record<string, unknown>) =>
  placeIn(PhoneNumberCreate, { provider: "sip", phone_number: "+14155550123", ...more })

describe("PhoneNumberCreate", () => {
  it.each([
    ["phone_number", { phone_number: "14155550123" }],
    ["phone_number", { phone_number: "+0123456789" }],
    ["phone_number", { phone_number: "+1234567890123456" }],
    ["phone_number", { phone_number: undefined }],
    ["provider", { provider: "livekit" }],
    ["provider", { provider: "twilio" }],
    ["label", { label: "x".repeat(121) }],
    ["bogus", { bogus: 1 }],
    ["inbound_auth_username", { inbound_auth_username: "x".repeat(129) }],
    ["inbound_auth_username", { inbound_auth_username: 'a"b' }],
    ["inbound_auth_password", { inbound_auth_password: "x".repeat(129) }],
    ["inbound_auth_password", { inbound_auth_password: "a\nb" }],
    ["inbound_allowed_addresses", { inbound_allowed_addresses: Array.from({ length: 33 }, () => "10.0.0.1") }],
    ["termination_uri", { termination_uri: "sip:trunk.example.com" }],
    ["termination_uri", { termination_uri: "user@trunk.example.com" }],
    ["termination_uri", { termination_uri: "trunk.example.com:0" }],
    ["termination_uri", { termination_uri: "trunk.example.com:65536" }],
    ["termination_uri", { termination_uri: "trunk.example.com;transport=tcp" }],
    ["termination_uri", { termination_uri: "trunk example.com" }],
    ["termination_uri", { termination_uri: "-trunk.example.com" }],
    ["termination_uri", { termination_uri: "::1" }],
    ["termination_transport", { termination_transport: "sctp" }],
    ["termination_headers", { termination_headers: [] }],
    [
      "termination_headers",
      { termination_headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`X-${n}`, "1"])) }
    ],
    ["termination_headers.X-A", { termination_headers: { "X-A": "x".repeat(1025) } }]
  ])("names %s when it refuses", (place, more) => assert.strictEqual(create(more), place))

  it.each([
    {},
    { label: null, agent_id: null, termination_headers: null },
    { termination_uri: "trunk.example.com" },
    { termination_uri: "trunk.example.com:5070" },
    { termination_uri: "_sip.trunk.example.com" },
    { termination_uri: "192.0.2.7:5060" },
    { termination_uri: "[2001:db8::7]:5061" },
    { termination_uri: "localhost" },
    { termination_uri: "" },
    { inbound_auth_password: "ä".repeat(128) }
  ])("takes %j", (more) => assert.isUndefined(create(more)))

  it("knows which fields a bought number has", () => {
    const bought = { provider: "carrier", phone_number: "+14155550123" } as const
    assert.deepStrictEqual(createFaults({ ...bought, label: "x", agent_id: "a" }), [])
    assert.deepStrictEqual(
      createFaults({ ...bought, termination_uri: "h", inbound_auth_username: "u" }).map(({ loc, type }) => [
        loc[1],
        type
      ]),
      [
        ["inbound_auth_username", "extra_forbidden"],
        ["termination_uri", "extra_forbidden"]
      ]
    )
  })
})

describe("the other bodies", () => {
  it.each([
    [PhoneNumberPatch, { agent_id: null }, undefined],
    [PhoneNumberPatch, { label: null }, "label"],
    [PhoneNumberPatch, { phone_number: "+14155550123" }, "phone_number"],
    [PhoneNumberPatch, { retry_caller_id_sync: "yes" }, "retry_caller_id_sync"],
    [SipConfigPut, { provider: "sip", inbound_allowed_addresses: ["10.0.0.1"] }, undefined],
    [SipConfigPut, { label: "x" }, "label"],
    [Schema.Struct(AvailableQuery), { country_code: "CA", area_code: "416", number_type: "toll_free" }, undefined],
    [Schema.Struct(AvailableQuery), { country_code: "DE" }, "country_code"],
    [Schema.Struct(AvailableQuery), { area_code: "41" }, "area_code"],
    [PhoneCallCreate, { agent_id: "a", phone_number_id: "p", to_number: "no number" }, undefined],
    [PhoneCallCreate, { agent_id: "a", phone_number_id: "p" }, "to_number"],
    [PhoneCallCreate, { agent_id: "a", phone_number_id: "p", to_number: "1", timezone: "UTC" }, "timezone"],
    [PhoneCallCreate, { agent_id: "a", phone_number_id: "p", to_number: "1", overrides: { x: 1 } }, "overrides.x"],
    [Schema.Struct(PhoneCallHeaders), { "idempotency-key": "x".repeat(255) }, undefined],
    [Schema.Struct(PhoneCallHeaders), { "idempotency-key": "x".repeat(256) }, "idempotency-key"],
    [Schema.Struct(PhoneCallHeaders), { "idempotency-key": "" }, "idempotency-key"]
  ] as ReadonlyArray<readonly [Schema.Codec<unknown, unknown>, unknown, string | undefined]>)(
    "%# judged",
    (schema, body, place) => assert.strictEqual(placeIn(schema, body), place)
  )
})

const places = (...given: Parameters<typeof trunkFaults>) =>
  trunkFaults(...given).map(({ loc }) => loc.slice(1).join("."))

const wrong = (headers: Record<string, string>, vendor = "vendor") =>
  sipHeaderFaults(headers, "sip_headers", vendor).map(({ loc }) => loc[2])

describe("trunkFaults", () => {
  const none = { inbound: false, termination: false }
  it("wants somebody to be able to call", () => {
    assert.deepStrictEqual(places({}, none, "vendor"), ["inbound_auth_username"])
    assert.deepStrictEqual(places({ inbound_allowed_addresses: ["10.0.0.1"] }, none, "vendor"), [])
    assert.deepStrictEqual(places({ inbound_auth_username: "u", inbound_auth_password: "p" }, none, "vendor"), [])
  })

  it("wants a password unless one is kept, and a user beside a password", () => {
    const input = { inbound_auth_username: "u", inbound_auth_password: "" }
    assert.deepStrictEqual(places(input, none, "vendor"), ["inbound_auth_password"])
    assert.deepStrictEqual(places(input, { ...none, inbound: true }, "vendor"), [])
  })

  it("judges headers by name, value and whose they are", () => {
    assert.deepStrictEqual(wrong({ "X-A": "1", "x-b-2": "~ ", "USER-TO-USER": "0".repeat(128) }), [])
    assert.deepStrictEqual(wrong({ Via: "1", "X-": "1", "X A": "1", "X-Ä": "1" }), ["Via", "X-", "X A", "X-Ä"])
    assert.deepStrictEqual(wrong({ "X-A": "1", "x-A": "1" }), ["x-A"])
    assert.deepStrictEqual(wrong({ "X-A": "a\r\nVia: b", "X-B": "é", "X-C": "" }), ["X-A", "X-B", "X-C"])
    assert.deepStrictEqual(wrong({ "x-vendor-session-id": "1", "X-Vendorx": "1" }), ["x-vendor-session-id"])
    assert.deepStrictEqual(wrong({ "X-Fine-Voice-A": "1", "X-Vendor-A": "1" }, "fine-voice"), ["X-Fine-Voice-A"])
  })
})
