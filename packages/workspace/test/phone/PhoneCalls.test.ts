// Records of telephone calls, from the first ring to the last webhook: real PostgreSQL, no telephone.
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/storage/Id.ts"
import { Billing } from "../../src/billing/Billing.ts"
import { PhoneCalls } from "../../src/phone/PhoneCalls.ts"
import { SessionLife } from "../../src/sessions/SessionLife.ts"
import { Sessions } from "../../src/sessions/Sessions.ts"
import { Usage } from "../../src/billing/Usage.ts"
import { live, office } from "./office.ts"

/** Calls a workspace may place in a day, and have at the same time. */
const callsADay = 200
const callsAtOnce = 10

interface Told extends Record<string, unknown> {
  readonly event: string
  readonly session: Record<string, unknown>
}

const hooks = [{ url: "https://hooks.example.invalid/one" }]

/** What the workspace's endpoint is to be told, in order. */
const told = Effect.fnUntraced(function* (ws: string, id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ body: string }>`SELECT body FROM webhook_deliveries
    WHERE workspace_id = ${ws} AND session_id = ${id} ORDER BY seq`
  return rows.map(({ body }) => JSON.parse(body) as Told)
})

layer(live, { excludeTestServices: true, timeout: "60 seconds" })("PhoneCalls", (it) => {
  it.effect("an inbound call rings, is answered once with its variables, and is charged by both prices", () =>
    Effect.gen(function* () {
      const calls = yield* PhoneCalls
      const life = yield* SessionLife
      const sessions = yield* Sessions
      const { call, ws } = yield* office(hooks)
      const row = yield* calls.ring(call("inbound"))
      assert.deepInclude(yield* sessions.get(ws, row.id), {
        status: "pending",
        source: "phone",
        direction: "inbound",
        caller_number: "+14155550100",
        dialed_number: "+14155550199",
        sip_call_id: "abc@peer",
        dial_status: null,
        answered_by: null,
        started_at: null
      })
      const prepared = yield* life.prepare(row)
      assert.strictEqual(prepared.config.conversation.max_duration_seconds, 1800)
      const up = { sipCallId: "abc@peer", dynamicVariables: { who: "Ada" } }
      const answers = yield* Effect.all([life.answered(row.id, up), life.answered(row.id, up)], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers.toSorted(), [false, true])
      const active = yield* sessions.find(ws, row.id)
      assert.deepStrictEqual(active.request.dynamicVariables, { who: "Ada" })
      assert.deepInclude(yield* sessions.get(ws, row.id), { status: "active", dial_status: null, answered_by: null })
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE sessions SET started_at = '2026-01-01T00:00:00Z' WHERE id = ${row.id}`
      const at = "2026-01-01T00:00:30.000Z"
      yield* life.record(row.id, [{ _tag: "CallEnded", reason: "user_hangup", at }])
      assert.deepStrictEqual(
        (yield* told(ws, row.id)).map(({ event }) => event),
        ["call.ended"]
      )
      const used = (yield* (yield* Usage).list(ws, {})).items
      assert.deepStrictEqual(
        used.map(({ cost, kind, quantity }) => [kind, quantity, cost]),
        [
          ["phone", 30, "0.005"],
          ["agent", 30, "0.03"]
        ]
      )
    })
  )

  it.effect("an answered outbound call tells that before its end, while its end is not known", () =>
    Effect.gen(function* () {
      const calls = yield* PhoneCalls
      const life = yield* SessionLife
      const { call, ws } = yield* office(hooks)
      const row = yield* calls.place(call("outbound"))
      assert.isTrue(yield* life.answered(row.id, { sipCallId: "xyz@us" }))
      yield* life.settle(row.id, "agent_hangup")
      const [dialled, ended] = yield* told(ws, row.id)
      assert.deepInclude(dialled, {
        event: "phone_call.dial_finished",
        dial_status: "answered",
        answered_by: "unknown"
      })
      assert.deepInclude(dialled?.session, {
        status: "active",
        end_reason: null,
        conversation_ended_at: null,
        duration_seconds: null,
        dial_status: "answered",
        sip_call_id: "xyz@us",
        caller_number: "+14155550100",
        metadata: { order: 7 }
      })
      assert.isString(dialled?.session["conversation_started_at"])
      assert.deepInclude(ended, { event: "call.ended", ended_reason: "agent_hangup" })
    })
  )

  it.effect("an unanswered one tells only how the dial resolved, costs nothing and is not analysed", () =>
    Effect.gen(function* () {
      const calls = yield* PhoneCalls
      const life = yield* SessionLife
      const sessions = yield* Sessions
      const sql = yield* SqlClient.SqlClient
      const { call, ws } = yield* office(hooks)
      const cases = [
        ["dial_failed", "busy", "busy"],
        ["dial_failed", "no_answer", "no_answer"],
        ["dial_failed", "failed", "failed"],
        ["cancelled", undefined, "no_answer"]
      ] as const
      for (const [reason, dial, status] of cases) {
        const row = yield* calls.place(call("outbound"))
        assert.isTrue(yield* life.settle(row.id, reason, "pending", dial))
        assert.isFalse(yield* life.answered(row.id, { sipCallId: "late@us" }))
        assert.deepInclude(yield* sessions.get(ws, row.id), {
          status: "failed",
          end_reason: reason,
          dial_status: status,
          answered_by: null,
          sip_call_id: "",
          started_at: null,
          duration_seconds: null
        })
        const bodies = yield* told(ws, row.id)
        assert.deepStrictEqual(
          bodies.map(({ event }) => event),
          ["phone_call.dial_finished"]
        )
        assert.deepInclude(bodies[0], { dial_status: status, answered_by: null })
        const analyses = yield* sql`SELECT 1 FROM session_analyses WHERE session_id = ${row.id}`
        assert.strictEqual(analyses.length, 0)
      }
      assert.strictEqual((yield* (yield* Billing).account(ws)).balance, 5_000_000_000n)
    })
  )

  it.effect("an inbound call that is over before its answer tells nobody", () =>
    Effect.gen(function* () {
      const life = yield* SessionLife
      const sessions = yield* Sessions
      const { call, ws } = yield* office(hooks)
      const row = yield* (yield* PhoneCalls).ring(call("inbound"))
      yield* life.settle(row.id, "cancelled", "pending")
      assert.deepInclude(yield* sessions.get(ws, row.id), {
        status: "failed",
        end_reason: "cancelled",
        dial_status: null
      })
      assert.deepStrictEqual(yield* told(ws, row.id), [])
    })
  )

  it.effect("settles what a dead process left ringing or up, and lets a living one ring", () =>
    Effect.gen(function* () {
      const calls = yield* PhoneCalls
      const life = yield* SessionLife
      const sessions = yield* Sessions
      const sql = yield* SqlClient.SqlClient
      const { call, ws } = yield* office(hooks)
      const [placed, rung, up, here] = [
        yield* calls.place(call("outbound")),
        yield* calls.ring(call("inbound")),
        yield* calls.place(call("outbound")),
        yield* calls.ring(call("inbound"))
      ]
      yield* life.answered(up.id, { sipCallId: "up@us" })
      yield* sql`UPDATE sessions SET owner = 'process_gone', expires_at = now() - interval '1 hour'
        WHERE id IN (${placed.id}, ${rung.id}, ${up.id})`
      // A deadline of joining is none of theirs.
      yield* life.expire
      assert.strictEqual((yield* sessions.get(ws, placed.id)).status, "pending")
      assert.strictEqual(yield* life.settleOrphans, 3)
      const shown = (id: string) =>
        Effect.map(sessions.get(ws, id), ({ dial_status, end_reason, status }) => [status, end_reason, dial_status])
      assert.deepStrictEqual(yield* shown(placed.id), ["failed", "dial_failed", "failed"])
      assert.deepStrictEqual(yield* shown(rung.id), ["failed", "cancelled", null])
      assert.deepStrictEqual(yield* shown(up.id), ["completed", "internal_error", "answered"])
      assert.deepStrictEqual(yield* shown(here.id), ["pending", null, null])
      const events = (id: string) => Effect.map(told(ws, id), (bodies) => bodies.map(({ event }) => event))
      assert.deepStrictEqual(yield* events(placed.id), ["phone_call.dial_finished"])
      assert.deepStrictEqual(yield* events(up.id), ["phone_call.dial_finished", "call.ended"])
      assert.strictEqual(yield* life.settleOrphans, 0)
    })
  )

  it.effect("places at most ten at a time and two hundred a day (UTC), exactly", () =>
    Effect.gen(function* () {
      const calls = yield* PhoneCalls
      const life = yield* SessionLife
      const sql = yield* SqlClient.SqlClient
      const { call, ws } = yield* office()
      const asked = yield* Effect.all(
        Array.from({ length: 30 }, () => Effect.result(calls.place(call("outbound")))),
        { concurrency: "unbounded" }
      )
      const placed = asked.flatMap((one) => (one._tag === "Success" ? [one.success.id] : []))
      assert.strictEqual(placed.length, callsAtOnce)
      for (const one of asked) {
        if (one._tag === "Failure")
          assert.deepInclude(one.failure, { status: 429, reason: "concurrency_limit_exceeded" })
      }
      // Inbound calls are not counted.
      yield* calls.ring(call("inbound"))
      for (const id of placed) yield* life.settle(id, "dial_failed")
      yield* sql`INSERT INTO sessions (id, workspace_id, agent_id, agent_name, config_hash, source, direction, status,
          timezone, max_duration_seconds, expires_at)
        SELECT ${ws} || n, ${ws}, 'a', 'Ada', '', 'phone', 'outbound', 'failed', 'UTC', 60, now()
        FROM generate_series(1, ${callsADay - callsAtOnce - 1}::int) n`
      yield* calls.place(call("outbound"))
      const over = yield* Effect.flip(calls.place(call("outbound")))
      assert.deepInclude(over, { status: 429, reason: "daily_limit_exceeded" })
      yield* sql`UPDATE sessions SET created_at = date_trunc('day', now(), 'UTC') - interval '1 second'
        WHERE workspace_id = ${ws} AND id IN (SELECT id FROM sessions WHERE workspace_id = ${ws} AND id LIKE ${`${ws}%`} LIMIT 1)`
      yield* calls.place(call("outbound"))
    })
  )

  it.effect("a key places one call, however many come with it at a time, and then answers with it", () =>
    Effect.gen(function* () {
      const calls = yield* PhoneCalls
      const { call, ws } = yield* office()
      const key = { key: newId("key"), bodyHash: "sha256:one" }
      const attempt = Effect.gen(function* () {
        const known = yield* calls.enter(ws, key)
        return known ?? (yield* calls.place(call("outbound"), key)).id
      })
      const results = yield* Effect.all(
        Array.from({ length: 50 }, () => Effect.result(attempt)),
        { concurrency: "unbounded" }
      )
      const ids = new Set(results.flatMap((one) => (one._tag === "Success" ? [one.success] : [])))
      assert.strictEqual(ids.size, 1)
      for (const one of results) {
        if (one._tag === "Failure") assert.deepInclude(one.failure, { status: 409, reason: "idempotency_key_conflict" })
      }
      assert.strictEqual(yield* attempt, [...ids][0])
      const reused = yield* Effect.flip(calls.enter(ws, { ...key, bodyHash: "sha256:two" }))
      assert.deepInclude(reused, { status: 422, reason: "idempotency_key_reuse" })
      const stranger = yield* office()
      assert.isUndefined(yield* calls.enter(stranger.ws, key))
    })
  )

  it.effect("a key is new again when nothing was placed, after a day, and when its process died", () =>
    Effect.gen(function* () {
      const calls = yield* PhoneCalls
      const sql = yield* SqlClient.SqlClient
      const { call, ws } = yield* office()
      const key = { key: "k", bodyHash: "sha256:one" }
      assert.isUndefined(yield* calls.enter(ws, key))
      assert.strictEqual((yield* Effect.flip(calls.enter(ws, key))).status, 409)
      yield* calls.leave(ws, key)
      assert.isUndefined(yield* calls.enter(ws, key))
      yield* sql`UPDATE phone_call_keys SET claimed_until = now() - interval '1 second' WHERE workspace_id = ${ws}`
      assert.isUndefined(yield* calls.enter(ws, key))
      const first = yield* calls.place(call("outbound"), key)
      // The one whose lease ran out places nothing.
      assert.strictEqual((yield* Effect.flip(calls.place(call("outbound"), key))).status, 409)
      yield* calls.leave(ws, key)
      assert.strictEqual(yield* calls.enter(ws, key), first.id)
      yield* sql`UPDATE phone_call_keys SET created_at = now() - interval '25 hours' WHERE workspace_id = ${ws}`
      assert.isUndefined(yield* calls.enter(ws, key))
      const kept = yield* (yield* Sessions).list(ws, {})
      assert.deepStrictEqual(
        kept.items.map(({ session_id }) => session_id),
        [first.id]
      )
    })
  )

  it.effect("keeps a call's sipTrace with its record, for its workspace alone", () =>
    Effect.gen(function* () {
      const calls = yield* PhoneCalls
      const { call, ws } = yield* office()
      const { id } = yield* calls.ring(call("inbound"))
      assert.deepStrictEqual(yield* calls.sipTrace(ws, id), [])
      yield* calls.keepSipTrace(id, [{ atMs: 0, direction: "in", what: "INVITE", detail: "\0" }])
      assert.deepStrictEqual(yield* calls.sipTrace(ws, id), [{ atMs: 0, direction: "in", what: "INVITE", detail: "" }])
      assert.strictEqual((yield* Effect.flip(calls.sipTrace((yield* office()).ws, id))).status, 404)
    })
  )
})
