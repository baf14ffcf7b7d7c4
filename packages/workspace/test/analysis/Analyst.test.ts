// Analyses of sessions in a real PostgreSQL, by a model that answers from a script.
import { assert, layer } from "@effect/vitest"
import type { Fact } from "@parley/contract/Fact"
import type { ChatModel } from "@parley/llm/ChatModel"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../src/agents/Agents.ts"
import { Analyses } from "../../src/analysis/Analyses.ts"
import * as Analyst from "../../src/analysis/Analyst.ts"
import { Billing } from "../../src/billing/Billing.ts"
import { Platform } from "../../src/Platform.ts"
import { SessionLife } from "../../src/sessions/SessionLife.ts"
import { Sessions } from "../../src/sessions/Sessions.ts"
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

let model: ChatModel | undefined
const answers = (...script: ReadonlyArray<string>) => {
  model = makeScriptedChatModel(script, { firstWordMs: 0 })
}
const mind = Layer.succeed(Analyst.AnalysisModel, { chat: () => model })
const live = Analyst.layer.pipe(
  Layer.provide(mind),
  Layer.provideMerge(Workspace.layer(undefined)),
  Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer))
)

const said = (role: "user" | "assistant", content: string): Fact => ({
  _tag: "ItemRecorded",
  item: { type: "message", id: content, role, content, turn_id: "t", created_at: "2026-01-01T00:00:01.000Z" }
})

/** An ended call in which this was said. */
const ended = Effect.fnUntraced(function* (name: string, facts: ReadonlyArray<Fact>, summary = true) {
  const ws = yield* (yield* Workspaces).ensure(name)
  const analysis = {
    summary: { enabled: summary, prompt: "", language: "en" as const },
    data_fields: summary ? [{ name: "city", type: "text" as const, description: "", enum_options: [] }] : [],
    criteria: summary ? [{ name: "helped", description: "" }] : []
  }
  const agent = yield* (yield* Agents).create(ws, { name: "Ada", config: { analysis } })
  const versions = yield* Versions
  yield* versions.publish(ws, agent.agent_id, {})
  const { id } = yield* (yield* Sessions).create({
    workspaceId: ws,
    runnable: yield* versions.live(ws, agent.agent_id),
    preview: false,
    source: "api_key",
    name: "",
    timezone: "UTC",
    endUserId: "",
    metadata: {},
    input: { overrides: {}, dynamicVariables: {}, worldContext: true, toolEvents: true, recordAudio: true },
    maxDurationSeconds: 60
  })
  const life = yield* SessionLife
  yield* life.claim(id)
  yield* life.record(id, facts)
  yield* life.settle(id, "user_hangup")
  return { ws, id }
})

const analysed = Effect.fnUntraced(function* (ws: string, id: string) {
  const sessions = yield* Sessions
  for (let i = 0; i < 400; i++) {
    const { analysis } = yield* sessions.get(ws, id)
    if (analysis !== null) return analysis
    yield* Effect.sleep(50)
  }
  return yield* Effect.die("it was never analysed")
})

layer(live, { excludeTestServices: true, timeout: "60 seconds" })("The analyst", (it) => {
  it.effect("draws summary, fields and criteria from what was said", () =>
    Effect.gen(function* () {
      answers('{"summary": "Short.", "data": {"city": "Bonn"}, "criteria": {"helped": {"result": "success"}}}')
      const { id, ws } = yield* ended("analysed", [said("user", "I live in Bonn")])
      const analysis = yield* analysed(ws, id)
      assert.deepInclude(analysis, { status: "completed", summary: "Short.", error: null })
      assert.deepEqual(
        analysis.data.map(({ name, value }) => [name, value]),
        [["city", "Bonn"]]
      )
      assert.strictEqual(analysis.criteria_results[0]?.result, "success")
      assert.strictEqual((yield* Effect.flip((yield* Analyses).again(ws, id))).status, 409)
      assert.strictEqual((yield* Effect.flip((yield* Analyses).again("ws_other", id))).status, 404)
    })
  )

  it.effect("skips a call without a word of the caller, and one of which nothing is wanted", () =>
    Effect.gen(function* () {
      answers("{}")
      const silent = yield* ended("silent", [said("assistant", "Hello?")])
      const unwanted = yield* ended("unwanted", [said("user", "Hi")], false)
      for (const { id, ws } of [silent, unwanted]) {
        assert.deepInclude(yield* analysed(ws, id), {
          status: "skipped",
          summary: null,
          data: [],
          criteria_results: []
        })
      }
    })
  )

  it.effect("charges the model's time, and analyses nothing once the balance is spent, until there is a top-up", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const analyses = yield* Analyses
      answers('{"summary": "Short."}', '{"summary": "Short."}')
      const { id, ws } = yield* ended("paid analysis", [said("user", "Hi")])
      yield* analysed(ws, id)
      const sql = yield* SqlClient.SqlClient
      const entries = yield* sql`SELECT 1 FROM usage_entries WHERE workspace_id = ${ws} AND kind = 'analysis'
        AND quantity > 0 AND cost_nano = quantity * 1000000`
      assert.lengthOf(entries, 1)
      const { balance } = yield* billing.account(ws)
      yield* billing.credit(ws, -balance, "")
      const spent = yield* ended("paid analysis", [said("user", "Hi")])
      assert.deepInclude(yield* analysed(ws, spent.id), { status: "error", error: "the balance is spent" })
      assert.strictEqual((yield* Effect.flip(analyses.again(ws, spent.id))).status, 402)
      yield* billing.credit(ws, balance, "")
      yield* analyses.again(ws, spent.id)
    })
  )

  it.effect("says so when no model can, and begins anew on demand", () =>
    Effect.gen(function* () {
      model = undefined
      const { id, ws } = yield* ended("again", [said("user", "Hi")])
      const failed = yield* analysed(ws, id)
      assert.strictEqual(failed.status, "error")
      assert.isNotNull(failed.error)
      answers('{"summary": "Now."}')
      yield* (yield* Analyses).again(ws, id)
      const now = yield* analysed(ws, id)
      assert.deepInclude(now, { status: "completed", summary: "Now.", error: null })
      assert.isTrue(now.finished_at > failed.finished_at)
    })
  )

  it.effect("asks again when the answer is no answer, and takes over what a dead process had begun", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      answers("I would rather not", '{"summary": "Second try."}')
      const { id, ws } = yield* ended("retried", [said("user", "Hi")])
      assert.deepInclude(yield* analysed(ws, id), { status: "completed", summary: "Second try." })
      answers('{"summary": "Taken over."}')
      yield* sql`UPDATE session_analyses SET status = 'queued', finished_at = NULL,
        claimed_until = now() - interval '1 second' WHERE session_id = ${id}`
      assert.deepInclude(yield* analysed(ws, id), { status: "completed", summary: "Taken over." })
    })
  )
})
