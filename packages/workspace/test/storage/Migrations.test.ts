// A database of the version before, with a row in every table, under the code of today: nothing is lost and everything
// can be read.
import { assert, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { defaultConfig } from "@parley/contract/AgentConfig/patchConfig"
import { Effect, Layer, type Redacted } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AgentTests } from "../../src/agentTests/AgentTests.ts"
import { TestRuns } from "../../src/agentTests/TestRuns.ts"
import { Agents } from "../../src/agents/Agents.ts"
import { Versions } from "../../src/agents/Versions.ts"
import { Analyses } from "../../src/analysis/Analyses.ts"
import { Billing } from "../../src/billing/Billing.ts"
import { Usage } from "../../src/billing/Usage.ts"
import { ApiKeys } from "../../src/identity/ApiKeys.ts"
import { KnowledgeSources } from "../../src/knowledge/KnowledgeSources.ts"
import { McpServers } from "../../src/mcp/McpServers.ts"
import { PhoneNumbers } from "../../src/phone/PhoneNumbers.ts"
import { SipTraces } from "../../src/phone/SipTraces.ts"
import { Platform } from "../../src/Platform.ts"
import { Recordings } from "../../src/recordings/Recordings.ts"
import { SessionLife } from "../../src/sessions/SessionLife.ts"
import { Sessions } from "../../src/sessions/Sessions.ts"
import { DataFolder, layer as database } from "../../src/storage/Database.ts"
import { runPostgres } from "../../src/storage/EmbeddedPostgres.ts"
import { migrations } from "../../src/storage/migrations.ts"
import { Tools } from "../../src/tools/Tools.ts"
import { VoiceModels } from "../../src/voices/VoiceModels.ts"
import { Deliveries } from "../../src/webhooks/Deliveries.ts"
import { Outbox } from "../../src/webhooks/Outbox.ts"
import * as Workspace from "../../src/Workspace.ts"

const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0015"))

const platform: Platform["Service"] = {
  voices: new Set(["v1"]),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["demo"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: "unlimited"
}

const config = {
  ...defaultConfig({
    ...platform,
    toolIds: new Set(),
    knowledgeSourceIds: new Set(),
    urlFault: () => undefined
  }),
  webhooks: { conversation_init: null, post_call: [{ url: "https://hooks.example.com/", secret: null }] }
}
const json = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "''")}'`
const definition = {
  tool_type: "webhook",
  name: "look_up",
  description: "",
  arguments: [],
  method: "POST",
  url: "https://tools.example.com/",
  content_type: "application/json",
  body_template: "",
  headers: [],
  execution_mode: "blocking",
  timeout_seconds: 30,
  error_handling: "passthrough",
  mock_responses: [],
  expects_response: true
}
const test = {
  name: "greets",
  description: "",
  turns: ["hello"],
  dynamic_variables: {},
  expectations: [{ type: "reply_contains", text: "hello" }]
}
const trunk = {
  inbound: null,
  allowedAddresses: ["203.0.113.7"],
  uri: "",
  transport: "auto",
  termination: null,
  headers: {}
}
const item = {
  type: "message",
  id: "m1",
  role: "user",
  content: "hi",
  turn_id: "t1",
  created_at: "2026-01-01T00:00:00Z"
}
const quality = {
  filename: "a.wav",
  duration_ms: 900,
  language: "en",
  quality: {},
  quality_passed: true,
  quality_reason: ""
}

/** One row for every table, as the version before wrote them. */
const rows = `
  INSERT INTO workspaces (id, name) VALUES ('ws_1', 'old');
  INSERT INTO api_keys (id, workspace_id, hash, hint, origin) VALUES ('key_1', 'ws_1', 'h', 'pk_..', 'made');
  INSERT INTO settings (name, value) VALUES ('old', 'kept');
  INSERT INTO agents (id, workspace_id, name, description, draft, draft_hash, live_version)
    VALUES ('agent_1', 'ws_1', 'Ada', '', ${json(config)}, 'sha256:1', 1);
  INSERT INTO agent_versions (agent_id, version_number, config, config_hash, tools, knowledge, mcp_servers)
    VALUES ('agent_1', 1, ${json(config)}, 'sha256:1', ${json([{ tool_id: "tool_1", definition }])},
      ${json([{ knowledge_source_id: "knowledge_1", revision_number: 1, name: "Hotel" }])},
      ${json([{ mcp_server_id: "mcp_1", definition: { name: "m", url: "https://mcp.example.com/", headers: [], timeout_seconds: 30 } }])});
  INSERT INTO processes (id) VALUES ('process_1');
  INSERT INTO sessions (id, workspace_id, agent_id, agent_name, version_number, config_hash, status, source, timezone,
      max_duration_seconds, owner, expires_at, started_at, last_fact_at, request)
    VALUES ('session_1', 'ws_1', 'agent_1', 'Ada', 1, 'sha256:1', 'active', 'api_key', 'UTC', 600, 'process_1', now(),
      now() - interval '1 minute', now(), '{"overrides":{},"dynamicVariables":{},"worldContext":true,"toolEvents":false,"recordAudio":true}'),
    ('session_2', 'ws_1', 'agent_1', 'Ada', 1, 'sha256:1', 'completed', 'phone', 'UTC', 600, NULL, now(), now(), now(), '{}');
  UPDATE sessions SET end_reason = 'user_hangup', ended_at = now(), duration_seconds = 7, direction = 'outbound',
    dial_status = 'answered', answered_by = 'unknown', caller_number = '+14155550100' WHERE id = 'session_2';
  INSERT INTO session_items (session_id, key, rank, created_at, item) VALUES ('session_2', 'message/m1', 0, now(), ${json(item)});
  INSERT INTO session_turns (session_id, turn_id, latency) VALUES ('session_2', 't1', '{"turn_id":"t1"}');
  INSERT INTO session_journal (session_id, entry) VALUES ('session_2', '{"at":1}');
  INSERT INTO wallets (workspace_id, id, granted_nano, spent_nano) VALUES ('ws_1', 'wallet_1', 5, 2);
  INSERT INTO usage_entries (workspace_id, kind, model, quantity, cost_nano) VALUES ('ws_1', 'agent', '', 7, 7000000);
  INSERT INTO credit_entries (workspace_id, amount_nano, note) VALUES ('ws_1', 1, 'n');
  INSERT INTO voice_models (id, workspace_id, title, description, visibility, tags, languages, default_text, quality)
    VALUES ('${"a".repeat(32)}', 'ws_1', 'Voice', '', 'private', '["x"]', '["en"]', 'hello', ${json([quality])});
  INSERT INTO voice_references (model_id, position, blob, text) VALUES ('${"a".repeat(32)}', 0, 'voices/${"b".repeat(32)}', 'hello');
  INSERT INTO tools (id, workspace_id, name, definition, content_hash) VALUES ('tool_1', 'ws_1', 'look_up', ${json(definition)}, 'c');
  INSERT INTO webhook_deliveries (id, workspace_id, session_id, event, url, body)
    VALUES ('delivery_1', 'ws_1', 'session_2', 'call.ended', 'https://hooks.example.com/', '{}');
  INSERT INTO webhook_attempts (delivery_id, attempt, sent_at, latency_ms, error) VALUES ('delivery_1', 1, now(), 3, 'no');
  UPDATE webhook_deliveries SET attempts = 1, claimed_until = now() + interval '1 hour';
  INSERT INTO session_analyses (session_id, workspace_id, claimed_until) VALUES ('session_2', 'ws_1', now() + interval '1 hour');
  INSERT INTO knowledge_revisions (source_id, revision_number, language, size_bytes, content) VALUES ('knowledge_1', 1, 'simple', 5, 'Roses');
  INSERT INTO knowledge_sources (id, workspace_id, name, description, file_name, size_bytes, chunk_count)
    VALUES ('knowledge_1', 'ws_1', 'Hotel', '', 'hotel.md', 5, 1);
  INSERT INTO knowledge_chunks (source_id, revision_number, position, heading, content, search)
    VALUES ('knowledge_1', 1, 0, '', 'Roses', to_tsvector('simple', 'roses'));
  INSERT INTO recording_tracks (id, session_id, role, blob, started_at) VALUES ('track_1', 'session_2', 'user', 'recordings/${"c".repeat(32)}', now());
  INSERT INTO mcp_servers (id, workspace_id, name, definition, content_hash)
    VALUES ('mcp_1', 'ws_1', 'm', '{"name":"m","url":"https://mcp.example.com/","headers":[],"timeout_seconds":30}', 'c');
  INSERT INTO agent_tests (id, workspace_id, definition) VALUES ('test_1', 'ws_1', ${json(test)});
  INSERT INTO attached_tests (agent_id, test_id) VALUES ('agent_1', 'test_1');
  INSERT INTO test_batches (id, workspace_id, agent_id, agent_name, config, config_hash, tools, knowledge)
    VALUES ('batch_1', 'ws_1', 'agent_1', 'Ada', ${json(config)}, 'sha256:1', '[]', '[]');
  INSERT INTO test_runs (id, workspace_id, batch_id, agent_id, test_id, definition, status, attempts, claimed_until)
    VALUES ('run_1', 'ws_1', 'batch_1', 'agent_1', 'test_1', ${json(test)}, 'running', 1, now() + interval '1 hour');
  INSERT INTO phone_numbers (id, workspace_id, phone_number, provider, agent_id, status, label, trunk, caller_id_sync_status)
    VALUES ('phone_1', 'ws_1', '+14155550100', 'sip', 'agent_1', 'active', 'desk', ${json(trunk)}, 'carrier_managed');
  INSERT INTO number_inventory (phone_number, friendly_name, locality, region, country_code, trunk, original_caller)
    VALUES ('+14155550199', 'n', '', '', 'US', ${json(trunk)}, false);
  INSERT INTO phone_call_keys (workspace_id, key, body_hash, claimed_until) VALUES ('ws_1', 'k', 'h', now());
  INSERT INTO session_ladders (session_id, ladder) VALUES ('session_2', '[{"method":"INVITE"}]')`

const counts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'
    AND tablename NOT IN ('parley_migrations', 'processes', 'settings', 'prices') ORDER BY 1`
  return yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(sql<{ n: number }>`SELECT count(*)::int AS n FROM ${sql(name)}`, (found) => [name, found[0]?.n] as const)
  )
})

/** The folder as the version before left it: killed, with a call, a webhook, an analysis and a run at work. */
const leave = (url: Redacted.Redacted<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* Migrator.make({})({ loader: Migrator.fromRecord(before), table: "parley_migrations" })
    for (const statement of rows.split(/;\n/)) yield* sql.unsafe(statement)
    const all = yield* counts
    for (const [table, n] of all) assert.isAbove(n ?? 0, 0, `no row in ${table}`)
    return all
  }).pipe(Effect.provide(PgClient.layer({ url })))

it.live(
  "keeps every row of the version before, and reads it",
  () =>
    Effect.gen(function* () {
      const data = mkdtempSync(join(tmpdir(), "parley-migrated-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(data, { recursive: true, force: true })))
      const left = yield* Effect.scoped(Effect.flatMap(runPostgres(data), ({ url }) => leave(url)))
      const settings = { data, databaseUrl: undefined }
      const today = Workspace.layer(undefined).pipe(
        Layer.provideMerge(Layer.succeed(Platform, platform)),
        Layer.provideMerge(database(settings)),
        Layer.provideMerge(DataFolder.layer(settings))
      )
      yield* Effect.provide(
        Effect.andThen(readAll, (found) => Effect.map(counts, (now) => ({ found, now }))),
        today
      ).pipe(Effect.tap(({ now }) => Effect.sync(() => assert.includeDeepMembers(now, left))))
    }).pipe(Effect.scoped),
  60_000
)

const readAll = Effect.gen(function* () {
  const sessions = yield* Sessions
  const page = yield* sessions.list("ws_1", { include_total: "true" })
  assert.deepStrictEqual(
    page.items.map(({ session_id, status }) => [session_id, status]),
    [
      ["session_2", "completed"],
      ["session_1", "active"]
    ]
  )
  assert.strictEqual(page.total, 2)
  const detail = yield* sessions.get("ws_1", "session_2")
  assert.strictEqual(detail.items.length + detail.latency.length, 2)
  assert.lengthOf(yield* sessions.journal("ws_1", "session_2"), 1)
  assert.lengthOf(yield* (yield* SipTraces).of("ws_1", "session_2"), 1)
  const row = yield* sessions.find("ws_1", "session_2")
  const prepared = yield* (yield* SessionLife).prepare(row)
  assert.strictEqual(prepared.tools[0]?.definition.name, "look_up")
  assert.strictEqual(prepared.mcpServers[0]?.definition.url, "https://mcp.example.com/")
  assert.strictEqual(prepared.knowledge.kind, "inline")

  assert.strictEqual((yield* (yield* Agents).get("ws_1", "agent_1")).publication_state, "live")
  yield* (yield* Agents).config("ws_1", "agent_1")
  assert.strictEqual((yield* (yield* Versions).live("ws_1", "agent_1")).versionNumber, 1)
  assert.lengthOf((yield* (yield* Tools).list("ws_1", {})).items, 1)
  assert.lengthOf((yield* (yield* McpServers).list("ws_1", {})).items, 1)
  assert.strictEqual((yield* (yield* KnowledgeSources).get("ws_1", "knowledge_1")).content, "Roses")
  assert.lengthOf((yield* (yield* AgentTests).list("ws_1", { agent_id: "agent_1" })).items, 1)
  assert.lengthOf((yield* (yield* PhoneNumbers).list("ws_1", {})).items, 1)
  assert.lengthOf((yield* (yield* VoiceModels).list("ws_1", {})).items, 1)
  assert.lengthOf((yield* (yield* Usage).list("ws_1", {})).items, 1)
  assert.strictEqual((yield* (yield* Billing).account("ws_1")).balance, 3n)
  assert.lengthOf(yield* (yield* ApiKeys).list, 1)
  assert.lengthOf(yield* (yield* Recordings).ofSession("ws_1", "session_2"), 1)

  // What was at work is taken again at once, though its lease would hold for an hour.
  const deliveries = yield* Deliveries
  assert.lengthOf((yield* deliveries.ofSession("ws_1", "session_2"))[0]?.attempts ?? [], 1)
  const [delivery] = yield* (yield* Outbox).queue.claim(10)
  assert.deepInclude(delivery, { id: "delivery_1", attempts: 1 })
  assert.deepStrictEqual(yield* (yield* Analyses).queue.claim(10), [{ session_id: "session_2", attempts: 0 }])
  const runs = yield* TestRuns
  assert.strictEqual((yield* runs.queue.claim(10))[0]?.test.name, "greets")
  assert.lengthOf((yield* runs.list("ws_1", {})).items, 1)
})
