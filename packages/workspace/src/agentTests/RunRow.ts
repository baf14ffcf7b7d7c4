// Rows of `test_runs` and of batches with the sums of their runs, and how the API shows them.
import {
  type ExpectationResult,
  type TestBatchSummary,
  TestRunStatus,
  type TestRunSummary
} from "@parley/contract/AgentTest"
import type { SessionItem } from "@parley/contract/SessionItem"
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { rowsOf, storedJson } from "../storage/rows.ts"
import { decodeTest } from "./TestRow.ts"

const RunRow = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  workspace_id: Schema.String,
  batch_id: Schema.String,
  agent_id: Schema.String,
  test_id: Schema.String,
  /** The test as it was when the batch began, for `decodeTest`. */
  definition: Schema.Unknown,
  status: TestRunStatus,
  error: Schema.NullOr(Schema.String),
  latency_ms: Schema.NullOr(Schema.Int),
  items: storedJson<ReadonlyArray<SessionItem>>(),
  expectations: storedJson<ReadonlyArray<ExpectationResult>>(),
  created_at: Schema.Date,
  finished_at: Schema.NullOr(Schema.Date)
})
/** A run of a test. */
export type RunRow = typeof RunRow.Type

/** Rows of `test_runs` with all their columns. */
export const runRows = rowsOf("test_runs", RunRow)

/** A run as a list shows it, without its items. */
export const showRun = (row: RunRow): TestRunSummary => ({
  run_id: row.id,
  batch_id: row.batch_id,
  agent_id: row.agent_id,
  test_id: row.test_id,
  test_name: decodeTest(row.definition).name,
  status: row.status,
  error: row.error,
  latency_ms: row.latency_ms,
  created_at: row.created_at.toISOString(),
  finished_at: row.finished_at?.toISOString() ?? null
})

const BatchRow = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  agent_id: Schema.String,
  config_hash: Schema.String,
  total: Schema.Int,
  passed: Schema.Int,
  failed: Schema.Int,
  errors: Schema.Int,
  created_at: Schema.Date,
  /** Of the last run that is over. */
  finished_at: Schema.NullOr(Schema.Date)
})
type BatchRow = typeof BatchRow.Type

const batchRows = rowsOf("test_batches", BatchRow)

/** Batches of an agent; `more` goes on after the condition, where the batch is called `b`. */
export const readBatches = (
  sql: SqlClient.SqlClient,
  workspace: string,
  agentId: string,
  more: Statement.Fragment
): Effect.Effect<ReadonlyArray<BatchRow>> =>
  batchRows(sql`SELECT b.id, b.seq, b.agent_id, b.config_hash, b.created_at, r.*
    FROM test_batches b CROSS JOIN LATERAL (SELECT count(*)::int AS total,
        count(*) FILTER (WHERE status = 'passed')::int AS passed,
        count(*) FILTER (WHERE status = 'failed')::int AS failed,
        count(*) FILTER (WHERE status = 'error')::int AS errors,
        max(finished_at) AS finished_at
      FROM test_runs WHERE batch_id = b.id) r
    WHERE b.workspace_id = ${workspace} AND b.agent_id = ${agentId} ${more}`).pipe(Effect.orDie)

/** A batch is completed when none of its runs is open. */
export const showBatch = (row: BatchRow): TestBatchSummary => {
  const { errors, failed, passed, total } = row
  const over = passed + failed + errors === total
  return {
    batch_id: row.id,
    agent_id: row.agent_id,
    config_hash: row.config_hash,
    status: over ? "completed" : "running",
    total,
    passed,
    failed,
    errors,
    created_at: row.created_at.toISOString(),
    finished_at: over ? (row.finished_at?.toISOString() ?? null) : null
  }
}
