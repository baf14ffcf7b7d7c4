// One number that two workspaces imported, called over a real network: each gets the calls that its own trunk admits.
import { assert, layer } from "@effect/vitest"
import { makeSipServer } from "@parley/transport/sip/SipServer"
import { Effect, Redacted } from "effect"
import { Telephone } from "../../../src/phone/Telephone.ts"
import { customer, eventually, serviceWith } from "../telephone.ts"

const service = serviceWith({ PARLEY_SIP_PORT: "0", PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8" })

/** A carrier that calls from this address, with a password where one is given; how the call came out. */
const callFrom = Effect.fnUntraced(function* (
  host: string,
  to: string,
  credentials?: { readonly username: string; readonly password: Redacted.Redacted<string> }
) {
  const { ports } = yield* Telephone
  const carrier = yield* Effect.acquireRelease(
    Effect.promise(() =>
      makeSipServer({
        network: { host, port: 0, tls: undefined, publicAddress: undefined, rtpPorts: undefined },
        mayReach: () => true,
        userAgent: "carrier",
        handlers: { trunksOf: () => Promise.resolve([]), onCall: (call) => call.refuse(404) }
      })
    ),
    (server) => Effect.promise(() => server.close())
  )
  const trunk = { uri: `127.0.0.1:${ports?.udp}`, transport: "udp", credentials } as const
  const dialling = carrier.dial({ trunk, from: "+14155550123", to, headers: {}, ringSeconds: 20 })
  const outcome = yield* Effect.promise(() => dialling.outcome)
  if (outcome.status !== "answered") return outcome.sipStatus
  outcome.leg.close("user_hangup")
  return 200
}, Effect.scoped)

/** Workspaces that import numbers for an agent which greets. */
const importer = Effect.gen(function* () {
  const one = yield* customer
  const agent_id = yield* one.agent({
    prompt: { first_message_mode: "fixed", first_message: "Hello." },
    conversation: { record_audio: false }
  })
  const imports = (phone_number: string, more: Record<string, unknown>) =>
    one.ask("POST", "/v1/agent/phone-numbers", { provider: "sip", phone_number, agent_id, ...more })
  const has = (count: number) => eventually(one.sessions, (all) => all.length === count, `${count} calls`)
  return { ...one, imports, has }
})

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("A number that two workspaces imported", (it) => {
  it.effect("rings at who named the carrier's address, and not at who imported it first", () =>
    Effect.gen(function* () {
      const [squatter, owner] = [yield* importer, yield* importer]
      const phone_number = "+14155557001"
      const first = yield* squatter.imports(phone_number, { inbound_allowed_addresses: ["127.0.0.3", "127.0.0.0/9"] })
      const second = yield* owner.imports(phone_number, { inbound_allowed_addresses: ["127.0.0.2"] })
      assert.deepStrictEqual([first.status, second.status], [201, 201])
      assert.strictEqual((yield* owner.imports(phone_number, { inbound_allowed_addresses: ["127.0.0.2"] })).status, 409)
      assert.strictEqual(yield* callFrom("127.0.0.2", phone_number), 200)
      yield* owner.has(1)
      assert.deepStrictEqual(yield* squatter.sessions, [])
      assert.strictEqual(yield* callFrom("127.0.0.3", phone_number), 200)
      yield* squatter.has(1)
      yield* owner.has(1)
    })
  )

  it.effect("rings at who has the password, though the other named the carrier's address first", () =>
    Effect.gen(function* () {
      const [squatter, owner] = [yield* importer, yield* importer]
      const phone_number = "+14155557002"
      yield* squatter.imports(phone_number, { inbound_allowed_addresses: ["127.0.0.2"] })
      yield* owner.imports(phone_number, { inbound_auth_username: "owner", inbound_auth_password: "secret" })
      const credentials = { username: "owner", password: Redacted.make("secret") }
      assert.strictEqual(yield* callFrom("127.0.0.2", phone_number, credentials), 200)
      yield* owner.has(1)
      assert.deepStrictEqual(yield* squatter.sessions, [])
    })
  )

  it.effect("is taken from a carrier without a password by nobody who asks for one", () =>
    Effect.gen(function* () {
      const [squatter, owner] = [yield* importer, yield* importer]
      const phone_number = "+14155557003"
      yield* squatter.imports(phone_number, { inbound_auth_username: "squatter", inbound_auth_password: "secret" })
      yield* owner.imports(phone_number, { inbound_allowed_addresses: ["127.0.0.2"] })
      // Asked once whether it has a password.
      assert.strictEqual(yield* callFrom("127.0.0.2", phone_number), 401)
      assert.strictEqual(yield* callFrom("127.0.0.2", phone_number), 200)
      yield* owner.has(1)
      assert.deepStrictEqual(yield* squatter.sessions, [])
    })
  )

  it.effect("may be called by a third one, and be imported by nobody for the whole internet", () =>
    Effect.gen(function* () {
      const [squatter, third] = [yield* importer, yield* importer]
      const phone_number = "+14155557004"
      const blocks = ["0.0.0.0/0", "0.0.0.0/1", "::/0", "::ffff:0:0/96"]
      const wide = yield* squatter.imports(phone_number, { inbound_allowed_addresses: blocks })
      assert.strictEqual(wide.status, 422)
      for (const index of blocks.keys())
        assert.include(JSON.stringify(wide.body), `"inbound_allowed_addresses",${index}`)
      yield* squatter.imports(phone_number, { inbound_allowed_addresses: ["127.0.0.9"] })
      const line = yield* third.number({ termination_uri: "127.0.0.1:9" })
      const placed = yield* third.ask("POST", "/v1/agent/phone-calls", {
        agent_id: yield* third.agent(),
        phone_number_id: line.id,
        to_number: phone_number
      })
      assert.strictEqual(placed.status, 201)
    })
  )
})

const few = serviceWith({ PARLEY_SIP_PORT: "off", PARLEY_MAX_IMPORTED_NUMBERS: "2" })

layer(few, { excludeTestServices: true, timeout: "60 seconds" })("A workspace", (it) => {
  it.effect("imports so many numbers at a time and a day, each with words", () =>
    Effect.gen(function* () {
      const { ask, imports } = yield* importer
      const more = { inbound_allowed_addresses: ["127.0.0.2"] }
      const asked = yield* Effect.all(
        ["+14155557010", "+14155557011", "+14155557012"].map((number) => imports(number, more)),
        { concurrency: "unbounded" }
      )
      assert.sameMembers(
        asked.map(({ status }) => status),
        [201, 201, 409]
      )
      assert.include(JSON.stringify(asked), "A workspace may have 2 imported numbers")
      for (const { body } of asked) yield* ask("DELETE", `/v1/agent/phone-numbers/${String(body["phone_number_id"])}`)
      const again = yield* imports("+14155557010", more)
      assert.strictEqual(again.status, 409)
      assert.include(JSON.stringify(again.body), "A workspace may import 2 numbers in 24 hours")
    })
  )
})
