import { assert, layer } from "@effect/vitest"
import type { Fact } from "@parley/contract/Fact"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../src/agents/Agents.ts"
import { Platform } from "../../src/Platform.ts"
import { SessionLife } from "../../src/sessions/SessionLife.ts"
import { type NewSession, Sessions } from "../../src/sessions/Sessions.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { Versions } from "../../src/agents/Versions.ts"
import * as Workspace from "../../src/Workspace.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["demo"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: 5_000_000_000n
})
const live = Workspace.layer(undefined).pipe(Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer)))

/** A workspace of its own with a published agent, and a maker of sessions. */
const office = Effect.fnUntraced(function* (name: string) {
  const workspaces = yield* Workspaces
  const agents = yield* Agents
  const versions = yield* Versions
  const sessions = yield* Sessions
  const ws = yield* workspaces.ensure(name)
  const agent = yield* agents.create(ws, { name: "Ada" })
  yield* versions.publish(ws, agent.agent_id, {})
  const runnable = yield* versions.live(ws, agent.agent_id)
  const make = (more: Partial<NewSession> = {}) =>
    sessions.create({
      workspaceId: ws,
      runnable,
      preview: false,
      source: "api_key",
      name: "",
      timezone: "UTC",
      endUserId: "",
      metadata: {},
      input: { overrides: {}, dynamicVariables: {}, worldContext: true, toolEvents: true, recordAudio: true },
      maxDurationSeconds: 60,
      ...more
    })
  return { ws, agent, make, draft: yield* versions.draft(ws, agent.agent_id) }
})

const message = (id: string, content: string, at = "2026-01-01T00:00:01.000Z"): Fact => ({
  _tag: "ItemRecorded",
  item: { type: "message", id, role: "user", content, turn_id: "t1", created_at: at }
})

layer(live, { excludeTestServices: true })("Sessions", (it) => {
  it.effect("is joined once", () =>
    Effect.gen(function* () {
      const life = yield* SessionLife
      const sessions = yield* Sessions
      const { make, ws } = yield* office("claim")
      const { id } = yield* make()
      const claims = yield* Effect.all(
        Array.from({ length: 8 }, () => Effect.result(life.claim(id))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(claims.filter(({ _tag }) => _tag === "Success").length, 1)
      const detail = yield* sessions.get(ws, id)
      assert.strictEqual(detail.status, "active")
      assert.isNotNull(detail.started_at)
      assert.strictEqual((yield* Effect.flip(life.claim("session_unknown"))).status, 409)
    })
  )

  it.effect("stores facts idempotently and settles at the end", () =>
    Effect.gen(function* () {
      const life = yield* SessionLife
      const sessions = yield* Sessions
      const { make, ws } = yield* office("facts")
      const { id } = yield* make({ metadata: { z: 1, a: ["\u0000", "\\u0000"] } })
      yield* life.claim(id)
      const call = { call_id: "c1", tool_name: "f", tool_source: "webhook", turn_id: "t1" } as const
      yield* life.record(id, [
        {
          _tag: "ItemRecorded",
          item: { type: "tool_call", ...call, input: "{}", created_at: "2026-01-01T00:00:02.000Z" }
        },
        message("m2", "later", "2026-01-01T00:00:02.000Z"),
        message("m1", "first \0 half \ud800"),
        message("m1", "first whole"),
        { _tag: "Journaled", entry: { at_ms: 5, kind: "signal", name: "SpeechBegan", data: { p: 0.9 } } }
      ])
      const latency = {
        turn_id: "t1",
        endpointing_ms: 550,
        asr_final_ms: 0,
        llm_first_token_ms: 1,
        phrase_ms: 1,
        tts_first_audio_ms: 1,
        playout_ms: 1,
        total_ms: 554,
        speculative: true
      }
      yield* life.record(id, [
        message("m2", "cut", "2026-01-01T00:00:02.000Z"),
        { _tag: "TurnMeasured", latency },
        { _tag: "Journaled", entry: { at_ms: 9, kind: "move", name: "Hush", data: {} } },
        { _tag: "CallEnded", reason: "user_hangup", at: new Date(Date.now() + 5000).toISOString() }
      ])
      const detail = yield* sessions.get(ws, id)
      assert.deepStrictEqual(
        detail.items.map((item) => (item.type === "message" ? item.content : item.type)),
        ["first whole", "cut", "tool_call"]
      )
      assert.deepStrictEqual(detail.latency, [latency])
      assert.deepStrictEqual(
        [detail.status, detail.end_reason, detail.duration_seconds],
        ["completed", "user_hangup", 5]
      )
      assert.deepStrictEqual(detail.metadata, { z: 1, a: ["\u0000", "\\u0000"] })
      assert.deepStrictEqual(
        (yield* sessions.journal(ws, id)).map(({ name }) => name),
        ["SpeechBegan", "Hush"]
      )
      // The first end counts.
      assert.strictEqual(yield* life.settle(id, "internal_error"), false)
      assert.strictEqual((yield* sessions.get(ws, id)).end_reason, "user_hangup")
    })
  )

  it.effect("fails what nobody joined, cancels what is pending", () =>
    Effect.gen(function* () {
      const life = yield* SessionLife
      const sessions = yield* Sessions
      const sql = yield* SqlClient.SqlClient
      const { make, ws } = yield* office("expiry")
      const late = yield* make()
      const fresh = yield* make()
      yield* sql`UPDATE sessions SET expires_at = now() - interval '1 second' WHERE id = ${late.id}`
      assert.strictEqual((yield* Effect.flip(life.claim(late.id))).status, 409)
      assert.strictEqual(yield* life.expire, 1)
      const gone = yield* sessions.get(ws, late.id)
      assert.deepStrictEqual(
        [gone.status, gone.end_reason, gone.duration_seconds],
        ["failed", "room_join_timeout", null]
      )
      assert.strictEqual(yield* life.settle(fresh.id, "cancelled", "active"), false)
      assert.strictEqual(yield* life.settle(fresh.id, "cancelled", "pending"), true)
      assert.strictEqual((yield* sessions.get(ws, fresh.id)).status, "failed")
    })
  )

  it.effect("settles the calls of a process that died, and only those", () =>
    Effect.gen(function* () {
      const life = yield* SessionLife
      const sessions = yield* Sessions
      const sql = yield* SqlClient.SqlClient
      const { make, ws } = yield* office("orphans")
      const dead = yield* make()
      const mine = yield* make()
      yield* life.claim(dead.id)
      yield* life.claim(mine.id)
      yield* sql`UPDATE sessions SET owner = 'process_dead', started_at = now() - interval '1 minute',
        last_fact_at = now() - interval '30 seconds' WHERE id = ${dead.id}`
      assert.strictEqual(yield* life.settleOrphans, 1)
      const settled = yield* sessions.get(ws, dead.id)
      assert.deepStrictEqual(
        [settled.status, settled.end_reason, settled.duration_seconds],
        ["completed", "internal_error", 30]
      )
      assert.strictEqual((yield* sessions.get(ws, mine.id)).status, "active")
    })
  )

  it.effect("lists by every filter and pages both ways", () =>
    Effect.gen(function* () {
      const life = yield* SessionLife
      const sessions = yield* Sessions
      const sql = yield* SqlClient.SqlClient
      const { agent, draft, make, ws } = yield* office("filters")
      const made = yield* Effect.forEach(["a", "b", "c", "d", "e"], (name) => make({ name }))
      const ids = new Map(made.map((row) => [row.name, row.id]))
      yield* make({ preview: true, runnable: draft, name: "preview" })
      yield* life.claim(ids.get("b") ?? "")
      yield* life.settle(ids.get("c") ?? "", "cancelled")
      yield* sql`UPDATE sessions SET direction = 'outbound', caller_number = '+14155550123', sip_call_id = 'call-1'
        WHERE id = ${ids.get("d") ?? ""}`
      yield* sql`UPDATE sessions SET created_at = '2020-01-01' WHERE id = ${ids.get("a") ?? ""}`
      const names = (query: Parameters<typeof sessions.list>[1]) =>
        sessions.list(ws, query).pipe(Effect.map((page) => page.items.map(({ name }) => name).join("")))
      assert.strictEqual(yield* names({}), "edcba")
      assert.strictEqual(yield* names({ status: "active, failed" }), "cb")
      assert.strictEqual(yield* names({ end_reason: "cancelled,user_hangup" }), "c")
      assert.strictEqual(yield* names({ direction: "outbound" }), "d")
      assert.strictEqual(yield* names({ caller_number: "+14155550123" }), "d")
      assert.strictEqual(yield* names({ caller_number: " 14155550123" }), "d")
      assert.strictEqual(yield* names({ sip_call_id: "call-1" }), "d")
      assert.strictEqual(yield* names({ sip_call_id: "" }), "")
      assert.strictEqual(yield* names({ agent_id: agent.agent_id }), "edcba")
      assert.strictEqual(yield* names({ agent_id: "agent_other" }), "")
      assert.strictEqual(yield* names({ created_before: "2021-01-01" }), "a")
      assert.strictEqual(yield* names({ created_after: "2021-01-01T00:00:00Z" }), "edcb")
      let walked = ""
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page: { items: ReadonlyArray<{ name: string }>; next_cursor: string | null; total: number | null } =
          yield* sessions.list(ws, { page_size: 2, include_total: "true", ...(cursor === undefined ? {} : { cursor }) })
        walked += page.items.map(({ name }) => name).join("")
        assert.strictEqual(page.total, 5)
        cursor = page.next_cursor
      }
      assert.strictEqual(walked, "edcba")
      const second = yield* sessions.list(ws, { page: 2, page_size: 2 })
      assert.deepStrictEqual(
        [second.items.map(({ name }) => name).join(""), second.total, second.has_more],
        ["cb", 5, true]
      )
      assert.strictEqual(yield* names({ page_size: 2, cursor: second.next_cursor ?? "" }), "a")
      assert.strictEqual((yield* sessions.list(ws, {})).total, null)
      const bad = [{ cursor: "x" }, { page: 1, cursor: second.next_cursor ?? "" }, { page: 1002, page_size: 100 }]
      for (const query of bad) assert.strictEqual((yield* Effect.flip(sessions.list(ws, query))).status, 400)
      assert.strictEqual(yield* names({ page: 1001, page_size: 100 }), "")
    })
  )

  it.effect("shows previews to nobody and foreign sessions to no one else", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const life = yield* SessionLife
      const { draft, make, ws } = yield* office("previews")
      const other = yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("stranger"))
      const preview = yield* make({ preview: true, runnable: draft })
      const normal = yield* make()
      assert.strictEqual((yield* Effect.flip(sessions.get(ws, preview.id))).status, 404)
      assert.strictEqual((yield* Effect.flip(sessions.get(other, normal.id))).status, 404)
      assert.strictEqual((yield* Effect.flip(sessions.journal(other, normal.id))).status, 404)
      assert.strictEqual((yield* Effect.flip(sessions.find(other, normal.id))).status, 404)
      const claimed = yield* life.claim(preview.id)
      assert.deepStrictEqual(claimed.config, draft.config)
      yield* life.record(preview.id, [message("m", "private")])
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM session_items WHERE session_id = ${preview.id}`, [])
      // What its model was told is there for whoever tries the agent out.
      const entry = { at_ms: 0, kind: "note", name: "model_instructions", data: { system: "P" } } as const
      yield* life.record(preview.id, [{ _tag: "Journaled", entry }])
      assert.deepStrictEqual(yield* sessions.journal(ws, preview.id), [entry])
      assert.strictEqual((yield* Effect.flip(sessions.journal(other, preview.id))).status, 404)
    })
  )
})
