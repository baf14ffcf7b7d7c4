// Calls that are placed through the API: why not, how often, and what becomes of them.
import { assert, layer } from "@effect/vitest"
import { newId } from "@parley/workspace/storage/Id"
import { Billing } from "@parley/workspace/billing/Billing"
import { LocalInventory } from "@parley/workspace/phone/LocalInventory"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { FakeDial } from "../../src/testing/FakeSipServer.ts"
import { customer, endpoint, eventually, telephone } from "./telephone.ts"

const { server, service } = telephone({ PARLEY_SIP_PORT: "0", PARLEY_MAX_CALLS: "12" })
const to_number = "+442079460123"

/** The call the server was asked to place for this session. */
const dialOf = (sessionId: unknown) =>
  eventually(
    Effect.sync(() => server.dials.find(({ request }) => request.headers["X-Vendor-Session-Id"] === sessionId)),
    (dial) => dial !== undefined,
    "it is dialled"
  ).pipe(Effect.map((dial) => dial as FakeDial))

/** A customer with a published agent, an imported number, and endpoints of their own. */
const caller = Effect.gen(function* () {
  const one = yield* customer
  const hook = yield* endpoint([{ status: 200, body: "" }])
  const agent_id = yield* one.agent({
    prompt: { first_message_mode: "fixed", first_message: "Hello {{who}}." },
    conversation: { record_audio: false },
    webhooks: { post_call: [{ url: hook.url }] }
  })
  const line = yield* one.number()
  const place = (more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    one.ask("POST", "/v1/agent/phone-calls", { agent_id, phone_number_id: line.id, to_number, ...more }, headers)
  return { ...one, hook, agent_id, line, place, dialOf }
})

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("A call that is placed", (it) => {
  it.effect("is queued, dialled through the number's trunk, held when answered, and told of in order", () =>
    Effect.gen(function* () {
      const { agent_id, ask, becomes, dialOf, events, hook, kinds, number, session } = yield* caller
      const line = yield* number({
        termination_uri: "sip.carrier.example:5070",
        termination_transport: "tcp",
        termination_auth_username: "out",
        termination_auth_password: "out-secret",
        termination_headers: { "X-Account": "7", "x-campaign": "old" }
      })
      const answer = yield* ask("POST", "/v1/agent/phone-calls", {
        agent_id,
        phone_number_id: line.id,
        to_number,
        dynamic_variables: { who: "Ada", "bad name": 1 },
        metadata: { order: [7] },
        sip_headers: { "X-Campaign": "new", "User-to-User": "00aa" }
      })
      assert.strictEqual(answer.status, 201)
      const id = String(answer.body["session_id"])
      assert.deepStrictEqual(answer.body, { session_id: id, status: "queued" })
      const dial = yield* dialOf(id)
      const { trunk, ...request } = dial.request
      assert.deepStrictEqual(request, {
        from: line.number,
        to: to_number,
        ringSeconds: 45,
        headers: {
          "X-Account": "7",
          "X-Campaign": "new",
          "User-to-User": "00aa",
          "X-Vendor-Session-Id": id
        }
      })
      assert.deepInclude(trunk, { uri: "sip.carrier.example:5070", transport: "tcp" })
      assert.strictEqual(trunk.credentials?.username, "out")
      assert.strictEqual(trunk.credentials && Redacted.value(trunk.credentials.password), "out-secret")
      assert.deepInclude(yield* session(id), {
        status: "pending",
        source: "phone",
        direction: "outbound",
        caller_number: to_number,
        dialed_number: line.number,
        dial_status: null,
        answered_by: null,
        sip_call_id: "",
        timezone: "Europe/London",
        metadata: { order: [7] }
      })
      dial.resolve("answered")
      const up = yield* becomes(id, "active")
      assert.deepInclude(up, { dial_status: "answered", answered_by: "unknown", sip_call_id: dial.callId })
      yield* eventually(
        Effect.sync(() => dial.leg.messages.some(({ message }) => message._tag === "AgentDone")),
        (done) => done,
        "the greeting is heard"
      )
      assert.strictEqual((yield* ask("POST", `/v1/agent/sessions/${id}/end`)).status, 204)
      const over = yield* becomes(id, "completed")
      assert.strictEqual(over["end_reason"], "agent_hangup")
      assert.strictEqual(dial.leg.closed(), "agent_hangup")
      const said = (over["items"] as ReadonlyArray<{ content?: string }>).map(({ content }) => content)
      assert.deepStrictEqual(said, ["Hello Ada."])
      yield* eventually(
        Effect.sync(() => hook.asked.length),
        (count) => count === 3,
        "three deliveries"
      )
      assert.deepStrictEqual(yield* events(id), ["phone_call.dial_finished", "call.ended", "call.analyzed"])
      assert.deepStrictEqual(
        hook.asked.map(({ body }) => body["event"]),
        ["phone_call.dial_finished", "call.ended", "call.analyzed"]
      )
      const [finished] = hook.asked
      assert.deepInclude(finished?.body, { dial_status: "answered", answered_by: "unknown" })
      assert.deepInclude(finished?.body["session"], {
        id,
        status: "active",
        conversation_ended_at: null,
        duration_seconds: null,
        metadata: { order: [7] }
      })
      assert.sameMembers([...(yield* kinds)], ["agent", "phone"])
    })
  )

  for (const status of ["busy", "no_answer", "failed"] as const) {
    it.effect(`is a failed session, free and told of once, when the dial comes back as ${status}`, () =>
      Effect.gen(function* () {
        const { becomes, dialOf, hook, kinds, place } = yield* caller
        const { body } = yield* place()
        const id = String(body["session_id"])
        const dial = yield* dialOf(id)
        dial.resolve(status)
        assert.deepInclude(yield* becomes(id, "failed"), {
          end_reason: "dial_failed",
          dial_status: status,
          answered_by: null,
          sip_call_id: "",
          analysis: null,
          duration_seconds: null
        })
        yield* eventually(
          Effect.sync(() => hook.asked.length),
          (count) => count === 1,
          "it is told"
        )
        assert.deepInclude(hook.asked[0]?.body, {
          event: "phone_call.dial_finished",
          dial_status: status,
          answered_by: null
        })
        assert.deepStrictEqual(yield* kinds, [])
      })
    )
  }

  it.effect("is given up when the API ends it while it rings, and not held when it was answered meanwhile", () =>
    Effect.gen(function* () {
      const { ask, becomes, dialOf, events, place } = yield* caller
      const id = String((yield* place()).body["session_id"])
      const dial = yield* dialOf(id)
      assert.strictEqual((yield* ask("POST", `/v1/agent/sessions/${id}/end`)).status, 204)
      assert.isTrue(dial.cancelled())
      assert.deepInclude(yield* becomes(id, "failed"), { end_reason: "cancelled", dial_status: "no_answer" })
      assert.deepStrictEqual(yield* events(id), ["phone_call.dial_finished"])

      const late = String((yield* place()).body["session_id"])
      const answered = yield* dialOf(late)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE sessions SET status = 'failed', end_reason = 'cancelled' WHERE id = ${late}`
      answered.resolve("answered")
      yield* eventually(Effect.sync(answered.leg.closed), (reason) => reason !== null, "its leg is closed")
      assert.strictEqual(answered.leg.playedMs(), 0)
    })
  )

  it.effect("is not placed, and says why", () =>
    Effect.gen(function* () {
      const { agent, ask, line, number, place, sessions, workspace } = yield* caller
      const stock = yield* Effect.provide(LocalInventory, LocalInventory.layer)
      const lines = yield* PhoneLines
      const sql = yield* SqlClient.SqlClient
      const billing = yield* Billing
      const stranger = yield* caller
      const phone_number = "+14165550100"
      yield* stock.put({
        phoneNumber: phone_number,
        friendlyName: "(416) 555-0100",
        locality: "Toronto",
        region: "ON",
        countryCode: "CA",
        trunk: {
          inbound: null,
          allowedAddresses: ["203.0.113.7"],
          uri: "sip.operator.example",
          transport: "udp",
          termination: null,
          headers: {}
        },
        originalCaller: false
      })
      const bought = yield* ask("POST", "/v1/agent/phone-numbers", { provider: "carrier", phone_number })
      assert.strictEqual(bought.status, 201)
      const managed = { phone_number_id: bought.body["phone_number_id"] }
      const workspaceId = yield* (yield* Workspaces).ensure(workspace)
      const inboundOnly = yield* number({ termination_uri: "" })
      const broken = yield* number()
      yield* sql`UPDATE phone_numbers SET status = 'error' WHERE id = ${broken.id}`
      const media = yield* number()
      yield* sql`UPDATE phone_numbers SET provider = 'livekit' WHERE id = ${media.id}`
      const cases: ReadonlyArray<readonly [more: Record<string, unknown>, status: number, reason: string | null]> = [
        [{ agent_id: "agent_unknown", to_number: "x" }, 404, "agent_not_found"],
        [{ agent_id: stranger.agent_id }, 404, "agent_not_found"],
        [{ agent_id: yield* agent({}, false), to_number: "x" }, 409, "agent_not_published"],
        [{ phone_number_id: "phone_unknown" }, 404, "number_not_found"],
        [{ phone_number_id: stranger.line.id }, 404, "number_not_found"],
        [{ phone_number_id: media.id }, 422, "number_provider_unsupported"],
        [{ phone_number_id: broken.id }, 422, "number_inactive"],
        [{ phone_number_id: inboundOnly.id }, 422, "number_termination_missing"],
        [{ to_number: "4420" }, 422, "destination_invalid"],
        [{ to_number: "sip:a@b" }, 422, "destination_invalid"],
        [{ to_number: line.number }, 422, "self_call_blocked"],
        [{ to_number: phone_number }, 422, "self_call_blocked"],
        [{ ...managed, to_number: "+14155550111", sip_headers: { "X-A": "1" } }, 422, "sip_headers_unsupported"],
        [{ ...managed, to_number: "+19005550111" }, 422, "premium_destination_blocked"],
        [{ ...managed, to_number: "+442079460123" }, 422, "destination_not_allowed"],
        [{ ...managed, to_number: "+18765550111" }, 422, "destination_not_allowed"],
        [{ sip_headers: { Subject: "x" } }, 422, null],
        [{ sip_headers: { "X-Vendor-Session-Id": "x" } }, 422, null],
        [{ overrides: { first_message: "x" } }, 400, null],
        [{ bogus: 1 }, 422, null],
        [{ to_number: null }, 422, null]
      ]
      for (const [more, status, reason] of cases) {
        const answer = yield* place(more)
        assert.deepStrictEqual([answer.status, answer.body["reason"]], [status, reason], JSON.stringify(more))
      }
      yield* lines.allowDialling(workspaceId, false)
      assert.deepInclude((yield* place()).body, { status: 403, reason: "outbound_disabled" })
      yield* lines.allowDialling(workspaceId, true)
      yield* billing.credit(workspaceId, -(yield* billing.account(workspaceId)).balance, "test")
      assert.deepInclude((yield* place()).body, { status: 402, reason: "insufficient_credit" })
      assert.deepStrictEqual(yield* sessions, [])
    })
  )

  it.effect("a key places one call and replays its answer; another body or one in flight is refused", () =>
    Effect.gen(function* () {
      const { dialOf, place, sessions } = yield* caller
      const headers = { "idempotency-key": newId("key") }
      const refused = yield* place({ to_number: "x" }, headers)
      assert.strictEqual(refused.status, 422)
      // Nothing was placed: the key is as new, for another body too.
      const answers = yield* Effect.all(
        Array.from({ length: 50 }, () => place({ metadata: { a: 1, b: 2 } }, headers)),
        { concurrency: "unbounded" }
      )
      const placed = answers.filter(({ status }) => status === 201)
      const conflicts = answers.filter(({ status }) => status === 409)
      assert.strictEqual(placed.length + conflicts.length, 50)
      for (const { body } of conflicts) assert.strictEqual(body["reason"], "idempotency_key_conflict")
      assert.strictEqual(new Set(placed.map(({ body }) => body["session_id"])).size, 1)
      const again = yield* place({ metadata: { b: 2, a: 1 } }, headers)
      assert.deepStrictEqual([again.status, again.body], [201, placed[0]?.body])
      const other = yield* place({ metadata: { a: 1 } }, headers)
      assert.deepStrictEqual([other.status, other.body["reason"]], [422, "idempotency_key_reuse"])
      const all = yield* sessions
      assert.strictEqual(all.length, 1)
      const dial = yield* dialOf(all[0]?.["session_id"])
      dial.resolve("busy")
      const dials = server.dials.filter(
        ({ request }) => request.headers["X-Vendor-Session-Id"] === all[0]?.["session_id"]
      )
      assert.strictEqual(dials.length, 1)
      assert.strictEqual((yield* place({}, { "idempotency-key": "with space" })).status, 422)
    })
  )

  it.effect("ten at a time, and a place is free again with the next dial that resolves", () =>
    Effect.gen(function* () {
      const { becomes, dialOf, place } = yield* caller
      const answers = yield* Effect.all(
        Array.from({ length: 11 }, () => place()),
        { concurrency: "unbounded" }
      )
      const placed = answers.filter(({ status }) => status === 201).map(({ body }) => String(body["session_id"]))
      const over = answers.find(({ status }) => status !== 201)
      assert.strictEqual(placed.length, 10)
      assert.deepInclude(over?.body, { status: 429, reason: "concurrency_limit_exceeded" })
      for (const id of placed) (yield* dialOf(id)).resolve("no_answer")
      for (const id of placed) yield* becomes(id, "failed")
      const next = yield* place()
      assert.strictEqual(next.status, 201)
      ;(yield* dialOf(next.body["session_id"])).resolve("failed")
    })
  )
})

const off = telephone({ PARLEY_SIP_PORT: "off" })
layer(off.service, { excludeTestServices: true, timeout: "60 seconds" })("With the telephone switched off", (it) => {
  it.effect("numbers are kept and placing is refused, clearly", () =>
    Effect.gen(function* () {
      const { line, place, sessions } = yield* caller
      assert.match(line.id, /^phone_/)
      assert.deepInclude((yield* place({ to_number: "x" })).body, { reason: "destination_invalid" })
      const answer = yield* place()
      assert.strictEqual(answer.status, 503)
      assert.match(String(answer.body["message"]), /telephone is switched off/)
      assert.deepStrictEqual(yield* sessions, [])
    })
  )
})
