import { assert, layer } from "@effect/vitest"
import { Invalid } from "@parley/contract/Errors"
import type { PhoneNumberCreate, SipConfigPut } from "@parley/contract/PhoneNumber"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../src/agents/Agents.ts"
import { Billing } from "../../src/billing/Billing.ts"
import { LocalInventory } from "../../src/phone/LocalInventory.ts"
import { PhoneLines } from "../../src/phone/PhoneLines.ts"
import { PhoneNumbers } from "../../src/phone/PhoneNumbers.ts"
import { secretOwner } from "../../src/storage/SecretOwner.ts"
import { Secrets } from "../../src/storage/Secrets.ts"
import { freshNumber, live, office, stocked } from "./office.ts"

/** Bought numbers a workspace may have. */
const mostNumbers = 20

const imported = (more: Partial<PhoneNumberCreate> = {}): PhoneNumberCreate => ({
  provider: "sip",
  phone_number: freshNumber(),
  inbound_allowed_addresses: ["203.0.113.7"],
  ...more
})

const placesOf = (error: unknown): ReadonlyArray<string> =>
  error instanceof Invalid ? error.errors.map(({ loc }) => loc.slice(1).join(".")) : [String(error)]

layer(live, { excludeTestServices: true, timeout: "60 seconds" })("PhoneNumbers", (it) => {
  it.effect("imports a number, shows no password, and knows it again however it is dialled", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const lines = yield* PhoneLines
      const secrets = yield* Secrets
      const { agentId, ws } = yield* office()
      const input = imported({
        label: "Desk",
        agent_id: agentId,
        inbound_auth_username: "in",
        inbound_auth_password: "in-secret",
        termination_uri: "sip.example.com:5070",
        termination_transport: "tcp",
        termination_auth_username: "out",
        termination_auth_password: "out-secret",
        termination_headers: { "X-Account": "7", "User-to-User": "00" }
      })
      const made = yield* numbers.create(ws, input)
      assert.deepInclude(made, {
        provider: "sip",
        status: "active",
        agent_id: agentId,
        label: "Desk",
        supports_outbound: true,
        caller_id_sync_status: "carrier_managed",
        cold_transfer_use_original_caller: null,
        cold_transfer_use_original_caller_effective: null,
        termination_uri: "sip.example.com:5070",
        termination_transport: "tcp",
        inbound_auth_username: "in",
        termination_auth_username: "out"
      })
      assert.notInclude(JSON.stringify(made), "secret")
      assert.deepStrictEqual(yield* numbers.get(ws, made.phone_number_id), made)
      const bare = input.phone_number.slice(1)
      for (const raw of [
        input.phone_number,
        bare,
        `00${bare}`,
        `011${bare}`,
        bare.slice(1),
        `${input.phone_number};npdi`
      ]) {
        const [line] = yield* lines.dialled(raw)
        assert.strictEqual(line?.id, made.phone_number_id, raw)
        assert.strictEqual(
          Redacted.value(
            secrets.of(secretOwner.number(made.phone_number_id)).open(line?.trunk?.inbound?.password ?? "")
          ),
          "in-secret"
        )
      }
      assert.isEmpty(yield* lines.dialled("anonymous"))
      assert.isEmpty(yield* lines.dialled("+999"))
    })
  )

  it.effect("says what is wrong with an import, every fault at once", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const { ws } = yield* office()
      const cases: ReadonlyArray<readonly [more: Partial<PhoneNumberCreate>, places: ReadonlyArray<string>]> = [
        [{ inbound_allowed_addresses: [] }, ["inbound_auth_username"]],
        [{ inbound_auth_username: "in" }, ["inbound_auth_password"]],
        [{ inbound_auth_password: "x" }, ["inbound_auth_username"]],
        [
          { inbound_allowed_addresses: ["10.0.0.0/8", "10.0.0.0/33", "host"] },
          ["inbound_allowed_addresses.1", "inbound_allowed_addresses.2"]
        ],
        [{ termination_auth_username: "out", termination_auth_password: "p" }, ["termination_uri"]],
        [{ termination_headers: { "X-A": "1" } }, ["termination_uri"]],
        [
          { termination_uri: "h", termination_headers: { "X-A": "1", "x-a": "2", Subject: "s", "X-Vendor-Z": "1" } },
          ["termination_headers.x-a", "termination_headers.Subject", "termination_headers.X-Vendor-Z"]
        ],
        [
          { termination_uri: "h", termination_headers: { "X-A": "", "X-B": "tab\t", "User-to-User": "0".repeat(129) } },
          ["termination_headers.X-A", "termination_headers.X-B", "termination_headers.User-to-User"]
        ],
        [{ agent_id: "agent_unknown" }, ["agent_id"]]
      ]
      for (const [more, places] of cases) {
        const error = yield* Effect.flip(numbers.create(ws, imported(more)))
        assert.deepStrictEqual(placesOf(error), places)
      }
      const bought = yield* Effect.flip(
        numbers.create(ws, { provider: "carrier", phone_number: freshNumber(), termination_uri: "h" })
      )
      assert.deepStrictEqual(placesOf(bought), ["termination_uri"])
    })
  )

  it.effect("is imported once by a workspace, however often it asks at a time, and by as many as ask", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const [one, other] = [yield* office(), yield* office()]
      const input = imported()
      const asked = yield* Effect.all(
        [one, other, one, other].map(({ ws }) => Effect.result(numbers.create(ws, input))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(asked.filter(({ _tag }) => _tag === "Success").length, 2)
      assert.deepStrictEqual(
        asked.flatMap((result) => (result._tag === "Failure" ? [result.failure.status] : [])),
        [409, 409]
      )
      const [owner, stranger] = [one, other]
      const [made] = (yield* numbers.list(owner.ws, { phone_number: input.phone_number })).items
      assert.strictEqual((yield* Effect.flip(numbers.release(stranger.ws, made?.phone_number_id ?? ""))).status, 404)
      yield* numbers.release(owner.ws, made?.phone_number_id ?? "")
      assert.strictEqual((yield* Effect.flip(numbers.get(owner.ws, made?.phone_number_id ?? ""))).status, 404)
      assert.strictEqual((yield* numbers.create(owner.ws, input)).status, "active")
    })
  )

  it.effect("replaces a trunk whole, keeps passwords that are left out, and takes outbound away", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const lines = yield* PhoneLines
      const secrets = yield* Secrets
      const { ws } = yield* office()
      const made = yield* numbers.create(
        ws,
        imported({
          inbound_auth_username: "in",
          inbound_auth_password: "first",
          termination_uri: "sip.example.com",
          termination_headers: { "X-A": "1" }
        })
      )
      const put = (config: SipConfigPut) => numbers.replaceTrunk(ws, made.phone_number_id, config)
      const passwordNow = Effect.map(lines.byId(made.phone_number_id), (line) =>
        Redacted.value(secrets.of(secretOwner.number(made.phone_number_id)).open(line?.trunk?.inbound?.password ?? ""))
      )
      const kept = yield* put({ inbound_auth_username: "in", inbound_auth_password: "", termination_uri: "" })
      assert.deepInclude(kept, {
        supports_outbound: false,
        termination_uri: "",
        inbound_allowed_addresses: [],
        termination_headers: {},
        termination_transport: "auto"
      })
      assert.strictEqual(yield* passwordNow, "first")
      yield* put({ inbound_auth_username: "in", inbound_auth_password: "second" })
      assert.strictEqual(yield* passwordNow, "second")
      assert.deepStrictEqual(placesOf(yield* Effect.flip(put({}))), ["inbound_auth_username"])
      yield* put({ inbound_allowed_addresses: ["::1"] })
      assert.deepStrictEqual(placesOf(yield* Effect.flip(put({ inbound_auth_username: "in" }))), [
        "inbound_auth_password"
      ])
    })
  )

  it.effect("drops the credentials for its calls when they are to go elsewhere", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const lines = yield* PhoneLines
      const secrets = yield* Secrets
      const { ws } = yield* office()
      const trunk = {
        inbound_allowed_addresses: ["203.0.113.7"],
        termination_uri: "sip.example.com",
        termination_transport: "tls",
        termination_auth_username: "out"
      } as const
      const withPassword = { ...trunk, termination_auth_password: "canary" }
      const { phone_number_id: id } = yield* numbers.create(ws, imported(withPassword))
      const put = (config: SipConfigPut) =>
        Effect.map(numbers.replaceTrunk(ws, id, config), (number) => number.termination_auth_username)
      const password = Effect.map(lines.byId(id), (line) => {
        const sealed = line?.trunk?.termination?.password
        return sealed === undefined ? undefined : Redacted.value(secrets.of(secretOwner.number(id)).open(sealed))
      })
      assert.strictEqual(yield* put({ ...trunk, termination_uri: "SIP.example.com" }), "out")
      assert.strictEqual(yield* password, "canary")
      const elsewhere: ReadonlyArray<SipConfigPut> = [
        { ...trunk, termination_uri: "evil.example.com" },
        { ...trunk, termination_uri: "sip.example.com:5999" },
        { ...trunk, termination_transport: "udp" },
        { ...trunk, termination_uri: "evil.example.com", termination_auth_password: "" }
      ]
      for (const away of elsewhere) {
        yield* put(withPassword)
        assert.strictEqual(yield* put(away), "", JSON.stringify(away))
        assert.isUndefined(yield* password)
      }
      yield* put(withPassword)
      const moved = { ...trunk, termination_uri: "other.example.com", termination_auth_password: "new" }
      assert.strictEqual(yield* put(moved), "out")
      assert.strictEqual(yield* password, "new")
    })
  )

  it.effect("binds, unbinds and loses its agent", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const { agentId, ws } = yield* office()
      const { phone_number_id: id } = yield* numbers.create(ws, imported())
      const patch = (change: Parameters<typeof numbers.update>[2]) => numbers.update(ws, id, change)
      assert.strictEqual((yield* patch({ agent_id: agentId })).agent_id, agentId)
      assert.deepInclude(yield* patch({ label: "x" }), { agent_id: agentId, label: "x" })
      assert.strictEqual((yield* numbers.list(ws, { agent_id: agentId })).items.length, 1)
      assert.strictEqual((yield* patch({ agent_id: null })).agent_id, null)
      assert.strictEqual((yield* numbers.list(ws, { agent_id: agentId })).items.length, 0)
      yield* patch({ agent_id: agentId })
      yield* (yield* Agents).remove(ws, agentId)
      assert.strictEqual((yield* numbers.get(ws, id)).agent_id, null)
      assert.deepStrictEqual(placesOf(yield* Effect.flip(patch({ agent_id: agentId }))), ["agent_id"])
      assert.deepStrictEqual(
        placesOf(yield* Effect.flip(patch({ cold_transfer_use_original_caller: true, retry_caller_id_sync: true }))),
        ["cold_transfer_use_original_caller", "retry_caller_id_sync"]
      )
    })
  )

  it.effect("buys: available, charged for a day, active, synced, released, available again", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const stock = yield* LocalInventory
      const billing = yield* Billing
      const { ws } = yield* office()
      const phone_number = freshNumber()
      yield* stock.put(stocked(phone_number))
      const forSale = Effect.map(numbers.available({ area_code: "415" }), (found) =>
        found.filter((one) => one.phone_number === phone_number)
      )
      assert.deepStrictEqual(yield* forSale, [
        {
          phone_number,
          friendly_name: "(415) 555",
          locality: "San Francisco",
          region: "CA",
          country_code: "US",
          number_type: "local",
          monthly_price: "1.2"
        }
      ])
      assert.strictEqual((yield* Effect.flip(numbers.available({ number_type: "toll_free" }))).status, 400)
      const made = yield* numbers.create(ws, { provider: "carrier", phone_number })
      assert.deepInclude(made, {
        provider: "carrier",
        status: "active",
        supports_outbound: true,
        termination_uri: "",
        caller_id_sync_status: "synced",
        cold_transfer_use_original_caller: false,
        cold_transfer_use_original_caller_effective: false
      })
      assert.strictEqual((yield* billing.account(ws)).balance, 4_960_000_000n)
      assert.deepStrictEqual(yield* forSale, [])
      const refused = yield* numbers.update(ws, made.phone_number_id, { cold_transfer_use_original_caller: true })
      assert.deepInclude(refused, {
        caller_id_sync_status: "error",
        cold_transfer_use_original_caller: true,
        cold_transfer_use_original_caller_effective: false,
        caller_id_sync_error: "The number's trunk does not show original callers"
      })
      yield* stock.put(stocked(phone_number, { originalCaller: true }))
      assert.strictEqual(
        (yield* numbers.update(ws, made.phone_number_id, { label: "x" })).caller_id_sync_status,
        "error"
      )
      const synced = yield* numbers.update(ws, made.phone_number_id, { retry_caller_id_sync: true })
      assert.deepInclude(synced, {
        caller_id_sync_status: "synced",
        caller_id_sync_error: "",
        cold_transfer_use_original_caller_effective: true
      })
      assert.deepStrictEqual(placesOf(yield* Effect.flip(numbers.replaceTrunk(ws, made.phone_number_id, {}))), [""])
      yield* numbers.release(ws, made.phone_number_id)
      assert.strictEqual((yield* forSale).length, 1)
    })
  )

  it.effect("refuses a purchase for want of money, over the limit, and of what is not for sale", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const stock = yield* LocalInventory
      const billing = yield* Billing
      const sql = yield* SqlClient.SqlClient
      const { ws } = yield* office()
      const phone_number = freshNumber()
      const buy = Effect.flip(numbers.create(ws, { provider: "carrier", phone_number }))
      assert.deepStrictEqual(placesOf(yield* buy), ["phone_number"])
      yield* stock.put(stocked(phone_number))
      yield* billing.credit(ws, -5_000_000_000n, "test")
      assert.strictEqual((yield* buy).status, 402)
      yield* billing.credit(ws, 5_000_000_000n, "test")
      yield* sql`INSERT INTO phone_numbers (id, workspace_id, phone_number, provider, status, label, caller_id_sync_status)
        SELECT 'phone_limit' || n, ${ws}, '+4930' || (1000000 + n), 'carrier', 'active', '', 'synced'
        FROM generate_series(1, ${mostNumbers}::int) n`
      assert.strictEqual((yield* buy).status, 403)
      assert.strictEqual((yield* billing.account(ws)).balance, 5_000_000_000n)
    })
  )

  it.effect("gives back what a failed or interrupted purchase cost and keeps its row", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const stock = yield* LocalInventory
      const billing = yield* Billing
      const sql = yield* SqlClient.SqlClient
      const { ws } = yield* office()
      const bare = { ...stocked("").trunk, allowedAddresses: [] }
      const phone_number = freshNumber()
      yield* stock.put(stocked(phone_number, { trunk: bare }))
      const error = yield* Effect.flip(numbers.create(ws, { provider: "carrier", phone_number }))
      assert.strictEqual(error.status, 502)
      const [row] = (yield* numbers.list(ws, {})).items
      assert.deepInclude(row, { status: "error", status_detail: "The number has no trunk yet", phone_number })
      assert.strictEqual((yield* billing.account(ws)).balance, 5_000_000_000n)
      yield* stock.put(stocked(phone_number))
      const again = yield* numbers.create(ws, { provider: "carrier", phone_number })
      assert.strictEqual(again.status, "active")
      yield* numbers.release(ws, row?.phone_number_id ?? "")
      assert.isUndefined((yield* numbers.available({})).find((one) => one.phone_number === phone_number))

      yield* sql`UPDATE phone_numbers SET status = 'provisioning', created_at = now() - interval '3 minutes'
        WHERE id = ${again.phone_number_id}`
      assert.strictEqual(yield* numbers.settleUnfinished, 1)
      assert.strictEqual((yield* numbers.get(ws, again.phone_number_id)).status, "error")
      assert.strictEqual((yield* billing.account(ws)).balance, 5_000_000_000n)
    })
  )

  it.effect("charges every further day once", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const billing = yield* Billing
      const sql = yield* SqlClient.SqlClient
      const { ws } = yield* office()
      const phone_number = freshNumber()
      yield* (yield* LocalInventory).put(stocked(phone_number))
      const { phone_number_id } = yield* numbers.create(ws, { provider: "carrier", phone_number })
      yield* sql`UPDATE phone_numbers SET billed_until = now() - interval '1 hour' WHERE id = ${phone_number_id}`
      assert.strictEqual(yield* numbers.chargeDays, 1)
      assert.strictEqual(yield* numbers.chargeDays, 0)
      assert.strictEqual((yield* billing.account(ws)).balance, 4_920_000_000n)
    })
  )

  it.effect("pages newest first and finds a number whose plus was lost in the query", () =>
    Effect.gen(function* () {
      const numbers = yield* PhoneNumbers
      const { ws } = yield* office()
      const made: Array<string> = []
      for (let n = 0; n < 3; n++) made.unshift((yield* numbers.create(ws, imported())).phone_number)
      const first = yield* numbers.list(ws, { page: 1, page_size: 2 })
      assert.deepStrictEqual(
        first.items.map((one) => one.phone_number),
        made.slice(0, 2)
      )
      assert.deepInclude(first, { has_more: true, total: 3 })
      const second = yield* numbers.list(ws, { cursor: first.next_cursor ?? "", page_size: 2 })
      assert.deepStrictEqual(
        second.items.map((one) => one.phone_number),
        made.slice(2)
      )
      const found = yield* numbers.list(ws, { phone_number: ` ${made[0]?.slice(1)}` })
      assert.deepStrictEqual(
        found.items.map((one) => one.phone_number),
        made.slice(0, 1)
      )
      assert.strictEqual((yield* Effect.flip(numbers.list(ws, { page: 1, cursor: "x" }))).status, 400)
    })
  )
})
