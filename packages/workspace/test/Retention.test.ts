// Rows of sessions that ended long ago, and of others: what is past its days goes, and nothing else.
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Retention from "../src/Retention.ts"
import * as TestDatabase from "../src/testing/TestDatabase.ts"
import { isDeepStrictEqual } from "node:util"

/** `count` sessions that ended so many days ago (null: live), each with `parts` items and journal entries, and a delivery. */
const sessions = Effect.fnUntraced(function* (name: string, daysAgo: number | null, count: number, parts = 2) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO workspaces (id, name) VALUES ('ws_kept', 'kept') ON CONFLICT DO NOTHING`
  yield* sql`INSERT INTO sessions (id, workspace_id, agent_id, agent_name, config_hash, source, timezone,
      max_duration_seconds, expires_at, status, ended_at)
    SELECT ${name} || n, 'ws_kept', 'agent', 'Ada', '', 'api_key', 'UTC', 60, now(),
      CASE WHEN ${daysAgo}::int IS NULL THEN 'active' ELSE 'completed' END, now() - make_interval(days => ${daysAgo}::int)
    FROM generate_series(1, ${count}::int) AS n`
  yield* sql`INSERT INTO session_items (session_id, key, rank, created_at, item)
    SELECT ${name} || n, p::text, 0, now(), '{}' FROM generate_series(1, ${count}::int) AS n,
      generate_series(1, ${parts}::int) AS p`
  yield* sql`INSERT INTO session_journal (session_id, entry)
    SELECT session_id, '{}' FROM session_items WHERE starts_with(session_id, ${name})`
  yield* sql`INSERT INTO webhook_deliveries (id, workspace_id, session_id, event, url, body, status, finished_at)
    SELECT 'd_' || id, 'ws_kept', id, 'call.ended', '', '', CASE WHEN ended_at IS NULL THEN 'pending' ELSE 'failed' END,
      ended_at FROM sessions WHERE starts_with(id, ${name})`
  yield* sql`INSERT INTO webhook_attempts (delivery_id, attempt, sent_at, latency_ms)
    SELECT id, 1, now(), 1 FROM webhook_deliveries WHERE starts_with(session_id, ${name})`
})

const left = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ items: number; journal: number; deliveries: number; attempts: number; sessions: number }>`
    SELECT (SELECT count(*)::int FROM session_items) AS items, (SELECT count(*)::int FROM session_journal) AS journal,
      (SELECT count(*)::int FROM webhook_deliveries) AS deliveries,
      (SELECT count(*)::int FROM webhook_attempts) AS attempts, (SELECT count(*)::int FROM sessions) AS sessions`
  return row
})

/** Runs the service's own rounds until what is left is this. */
const settles = Effect.fnUntraced(function* (days: Retention.KeptDays, expected: object) {
  yield* Layer.build(Retention.layer(days))
  for (let tries = 0; tries < 200 && !isDeepStrictEqual(yield* left, expected); tries++) yield* Effect.sleep(25)
  yield* Effect.sleep(100)
  assert.deepStrictEqual(yield* left, expected)
}, Effect.scoped)

layer(TestDatabase.layer, { excludeTestServices: true })("retention", (it) => {
  it.effect("removes each kind after its own days, however much it is, and nothing of a live session", () =>
    Effect.gen(function* () {
      yield* sessions("old", 40, 450, 4)
      yield* sessions("ripe", 10, 3, 1_500)
      yield* sessions("young", 2, 5)
      yield* sessions("live", null, 2)
      const all = { items: 6_314, journal: 6_314, deliveries: 460, attempts: 460, sessions: 460 }
      yield* settles({ transcripts: 0, journals: 0, deliveries: 0 }, all)
      const young = 5 * 2 + 2 * 2
      const kept = { items: 4_500 + young, journal: young, deliveries: 2, attempts: 2, sessions: 460 }
      yield* settles({ transcripts: 30, journals: 7, deliveries: 1 }, kept)
      yield* settles({ transcripts: 7, journals: 0, deliveries: 0 }, { ...kept, items: young })
    })
  )
})
