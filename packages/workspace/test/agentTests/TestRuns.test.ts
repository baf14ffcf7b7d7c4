import { assert, layer } from "@effect/vitest"
import { AgentTestCreate, type AgentTestCreate as Create, AgentTestPatch } from "@parley/contract/AgentTest"
import type { SessionItem } from "@parley/contract/SessionItem"
import { Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AgentTests } from "../../src/agentTests/AgentTests.ts"
import { TestRuns } from "../../src/agentTests/TestRuns.ts"
import { Agents } from "../../src/agents/Agents.ts"
import { Platform } from "../../src/Platform.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { Tools } from "../../src/tools/Tools.ts"
import * as Workspace from "../../src/Workspace.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set(["slt"]),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["default"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: 5_000_000_000n
})

const live = Workspace.layer(undefined).pipe(Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer)))

const greeting: Create = {
  name: "Greets",
  turns: ["hello"],
  expectations: [{ type: "reply_contains", text: "hello" }]
}

const home = (name: string) => Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure(name))
const statusOf = <A, R>(effect: Effect.Effect<A, { readonly status: number }, R>) =>
  Effect.map(Effect.flip(effect), ({ status }) => status)
const agentIn = (ws: string) =>
  Effect.flatMap(Agents, (agents) => Effect.map(agents.create(ws, { name: "Ada" }), ({ agent_id }) => agent_id))
/** What a model says may hold what the database does not take. */
const odd: SessionItem = {
  type: "message",
  id: "m",
  role: "assistant",
  content: "a\0b\ud800",
  turn_id: "t",
  created_at: ""
}
const outcome = { status: "passed", error: null, latencyMs: 7, items: [], expectations: [] } as const

const claim = ({ queue }: TestRuns["Service"]) => Effect.map(queue.claim(1), ([run]) => run)

layer(live, { excludeTestServices: true })("agent tests", (it) => {
  it.effect("are made, shown, changed, listed, attached and removed", () =>
    Effect.gen(function* () {
      const tests = yield* AgentTests
      const ws = yield* home("life")
      const agent = yield* agentIn(ws)
      const made = yield* tests.create(ws, { ...greeting, dynamic_variables: { who: "Bo", "no-name": 1, deep: {} } })
      const id = made.test_id
      assert.match(id, /^test_/)
      assert.deepInclude(made, { ...greeting, description: "", dynamic_variables: { who: "Bo" }, used_by: 0 })
      const changed = yield* tests.update(ws, id, { name: "Welcomes", turns: ["hi", "bye"] })
      assert.deepInclude(changed, { name: "Welcomes", turns: ["hi", "bye"], dynamic_variables: { who: "Bo" } })
      yield* tests.create(ws, greeting)
      for (let twice = 0; twice < 2; twice++) yield* tests.attach(ws, agent, id)
      const attached = yield* tests.list(ws, { agent_id: agent, include_total: "true" })
      assert.deepStrictEqual([attached.items.map(({ test_id }) => test_id), attached.total], [[id], 1])
      assert.strictEqual((yield* tests.get(ws, id)).used_by, 1)
      assert.strictEqual((yield* tests.list(ws, { search: "greet" })).items.length, 1)
      for (let twice = 0; twice < 2; twice++) yield* tests.detach(ws, agent, id)
      assert.strictEqual((yield* tests.get(ws, id)).used_by, 0)
      yield* tests.attach(ws, agent, id)
      yield* tests.remove(ws, id)
      assert.strictEqual(yield* statusOf(tests.get(ws, id)), 404)
      assert.strictEqual((yield* tests.list(ws, { agent_id: agent })).items.length, 0)
    })
  )

  it.effect("have bounds", () =>
    Effect.sync(() => {
      const decode = Schema.decodeUnknownResult(AgentTestCreate, { onExcessProperty: "error" })
      assert.isTrue(Result.isSuccess(decode(greeting)))
      for (const more of [
        { name: "" },
        { name: "x".repeat(121) },
        { turns: [] },
        { turns: [""] },
        { turns: Array.from({ length: 21 }, () => "a") },
        { expectations: [] },
        { expectations: Array.from({ length: 21 }, () => greeting.expectations[0]) },
        { expectations: [{ type: "reply_contains" }] },
        { expectations: [{ type: "reply_contains", text: "\0" }] },
        { expectations: [{ type: "sounds_nice" }] },
        { expectations: [{ type: "tool_called", tool_name: "t", arguments: { deep: {} } }] },
        { expectations: [{ type: "criterion", description: "x".repeat(501) }] },
        { mocks: [] }
      ]) {
        assert.isTrue(Result.isFailure(decode({ ...greeting, ...more })), JSON.stringify(more).slice(0, 80))
      }
      assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(AgentTestPatch)({ turns: null })))
    })
  )

  it.effect("are run as they are when a batch is begun, two of a workspace at a time, one after another", () =>
    Effect.gen(function* () {
      const tests = yield* AgentTests
      const runs = yield* TestRuns
      const tools = yield* Tools
      const agents = yield* Agents
      const ws = yield* home("batch")
      const { tool_id } = yield* tools.create(ws, { name: "Book", url: "https://api.example.com/one" })
      const section = { enabled: true, tool_ids: [tool_id], system_tools: { hang_up_call: false } }
      const { agent_id: agent } = yield* agents.create(ws, { name: "Ada", config: { tools: section } })
      assert.strictEqual(yield* statusOf(runs.begin(ws, agent, {})), 400)
      const ids: Array<string> = []
      for (const name of ["one", "two", "three"]) {
        const { test_id } = yield* tests.create(ws, { ...greeting, name })
        yield* tests.attach(ws, agent, test_id)
        ids.push(test_id)
      }
      const batch = yield* runs.begin(ws, agent, {})
      assert.deepInclude(batch, { status: "running", total: 3, passed: 0, finished_at: null })
      assert.deepStrictEqual(
        batch.test_runs.map(({ status, test_name }) => [test_name, status]),
        ["one", "two", "three"].map((name) => [name, "queued"])
      )
      assert.strictEqual(batch.config_hash, (yield* agents.config(ws, agent)).config_hash)
      yield* tests.update(ws, ids[0] ?? "", { turns: ["changed"] })
      yield* tools.update(ws, tool_id, { url: "https://api.example.com/two" })
      const [first, second] = [yield* claim(runs), yield* claim(runs)]
      assert.deepStrictEqual([first?.test.turns, second?.test.name], [["hello"], "two"])
      assert.strictEqual(first?.tools[0]?.definition.url, "https://api.example.com/one")
      assert.isUndefined(yield* claim(runs))
      yield* runs.finish(first?.id ?? "", outcome)
      const third = yield* claim(runs)
      assert.strictEqual(third?.test.name, "three")
      yield* runs.finish(second?.id ?? "", { ...outcome, status: "failed" })
      yield* runs.finish(third?.id ?? "", { ...outcome, status: "error", items: [odd] })
      const over = yield* runs.batch(ws, agent, batch.batch_id)
      assert.deepInclude(over, { status: "completed", total: 3, passed: 1, failed: 1, errors: 1 })
      assert.isNotNull(over.finished_at)
      const [shown] = (yield* runs.get(ws, third?.id ?? "")).items
      assert.strictEqual(shown?.type === "message" ? shown.content : "", "ab\ufffd")
      const listed = yield* runs.list(ws, { status: "failed", batch_id: batch.batch_id })
      assert.deepStrictEqual(
        listed.items.map(({ test_name }) => test_name),
        ["two"]
      )
      assert.strictEqual((yield* runs.batches(ws, agent, { include_total: "true" })).total, 1)
      // One of them alone, though it is attached to nobody.
      yield* tests.detach(ws, agent, ids[2] ?? "")
      assert.strictEqual((yield* runs.begin(ws, agent, { test_ids: [ids[2] ?? ""] })).total, 1)
      assert.strictEqual(yield* statusOf(runs.begin(ws, agent, { test_ids: ["test_none"] })), 422)
      assert.strictEqual(yield* statusOf(runs.begin(ws, agent, { test_ids: [] })), 400)
      yield* runs.finish((yield* claim(runs))?.id ?? "", outcome)
    })
  )

  it.effect("whose process died are run once more, and then given up", () =>
    Effect.gen(function* () {
      const tests = yield* AgentTests
      const runs = yield* TestRuns
      const sql = yield* SqlClient.SqlClient
      const ws = yield* home("deaths")
      const agent = yield* agentIn(ws)
      const { test_id } = yield* tests.create(ws, greeting)
      yield* runs.begin(ws, agent, { test_ids: [test_id] })
      const first = yield* claim(runs)
      assert.isUndefined(yield* claim(runs))
      const die = sql`UPDATE test_runs SET claimed_until = now() - interval '1 second' WHERE workspace_id = ${ws}`
      yield* die
      assert.strictEqual((yield* claim(runs))?.id, first?.id)
      yield* die
      assert.isUndefined(yield* claim(runs))
      const given = yield* runs.get(ws, first?.id ?? "")
      assert.deepInclude(given, { status: "error", error: "interrupted: the service stopped" })
      // It comes late.
      yield* runs.finish(given.run_id, outcome)
      assert.strictEqual((yield* runs.get(ws, given.run_id)).status, "error")
    })
  )

  it.effect("are one workspace's own", () =>
    Effect.gen(function* () {
      const tests = yield* AgentTests
      const runs = yield* TestRuns
      const [ws, other] = [yield* home("mine"), yield* home("theirs")]
      const [agent, theirs] = [yield* agentIn(ws), yield* agentIn(other)]
      const { test_id: id } = yield* tests.create(ws, greeting)
      const { batch_id, test_runs } = yield* runs.begin(ws, agent, { test_ids: [id] })
      for (const attempt of [
        tests.get(other, id),
        tests.update(other, id, { name: "x" }),
        tests.remove(other, id),
        tests.attach(other, theirs, id),
        tests.attach(other, agent, id),
        tests.detach(other, agent, id),
        runs.begin(other, agent, {}),
        runs.batches(other, agent, {}),
        runs.batch(other, agent, batch_id),
        runs.batch(other, theirs, batch_id),
        runs.get(other, test_runs[0]?.run_id ?? "")
      ]) {
        assert.strictEqual(yield* statusOf<unknown, never>(attempt), 404)
      }
      assert.strictEqual(yield* statusOf(runs.begin(other, theirs, { test_ids: [id] })), 422)
      assert.strictEqual((yield* runs.list(other, { batch_id })).items.length, 0)
      yield* runs.finish((yield* claim(runs))?.id ?? "", outcome)
    })
  )
})
