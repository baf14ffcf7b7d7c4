// Batches of test runs: an agent's draft and its tests as they are when a batch is begun. Runs are claimed one by one, at
// most two of a workspace at the same time. Claims are leases: a run whose process died is begun once more, then given up.
import type {
  ExpectationResult,
  TestBatch,
  TestBatchSummary,
  TestDefinition,
  TestRun,
  TestRunStatus,
  TestRunSummary,
  TestsRun
} from "@parley/contract/AgentTest"
import { BadRequest, type Invalid, invalid, type NotFound, notFound, TooManyRequests } from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import type { Page, PageRequest } from "@parley/contract/Page"
import type { SessionItem } from "@parley/contract/SessionItem"
import { Context, Effect, Latch, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type AgentRow, decodeConfig } from "../agents/Agents.ts"
import { newId } from "../storage/Id.ts"
import { type CallKnowledge, knowledgeFor, pinKnowledge, type PinnedSource } from "../knowledge/PinnedKnowledge.ts"
import { closeWindow, openWindow, readPage } from "../storage/Paging.ts"
import { Database } from "../storage/Database.ts"
import { storableJson } from "../storage/storableJson.ts"
import { pinTools } from "../tools/PinnedTools.ts"
import { decodeTool, type RunnableTool } from "../tools/ToolRow.ts"
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { decodeTest, type TestRow } from "./AgentTests.ts"

/** A run that is to be held now. */
export interface ClaimedRun {
  readonly id: string
  readonly workspaceId: string
  readonly agentId: string
  readonly agentName: string
  readonly configHash: string
  readonly test: TestDefinition
  readonly config: StoredConfig
  readonly tools: ReadonlyArray<RunnableTool>
  readonly knowledge: CallKnowledge
}

export interface RunOutcome {
  readonly status: "passed" | "failed" | "error"
  readonly error: string | null
  readonly latencyMs: number
  readonly items: ReadonlyArray<SessionItem>
  readonly expectations: ReadonlyArray<ExpectationResult>
}

export interface RunQuery extends PageRequest {
  readonly agent_id?: string
  readonly test_id?: string
  readonly batch_id?: string
  readonly status?: TestRunStatus
}

/** Longer than a run may take. */
const leaseSeconds = 180
const mostAtOnce = 2
const mostWaiting = 200
const mostAttempts = 2

export class TestRuns extends Context.Service<
  TestRuns,
  {
    /** Begins a batch of the agent's draft. */
    readonly begin: (
      workspace: string,
      agentId: string,
      input: TestsRun
    ) => Effect.Effect<TestBatch, NotFound | BadRequest | Invalid | TooManyRequests>
    readonly claim: Effect.Effect<ClaimedRun | undefined>
    readonly finish: (id: string, outcome: RunOutcome) => Effect.Effect<void>
    readonly batches: (
      workspace: string,
      agentId: string,
      page: PageRequest
    ) => Effect.Effect<Page<TestBatchSummary>, NotFound | BadRequest>
    readonly batch: (workspace: string, agentId: string, id: string) => Effect.Effect<TestBatch, NotFound>
    readonly list: (workspace: string, query: RunQuery) => Effect.Effect<Page<TestRunSummary>, BadRequest>
    readonly get: (workspace: string, id: string) => Effect.Effect<TestRun, NotFound>
    readonly wakeUp: Latch.Latch
  }
>()("@parley/workspace/TestRuns") {
  static readonly layer: Layer.Layer<TestRuns, never, Database | SqlClient.SqlClient> = Layer.effect(
    TestRuns,
    Effect.gen(function* () {
      const { alone } = yield* Database
      const sql = yield* SqlClient.SqlClient
      const wakeUp = yield* Latch.make()
      if (alone) yield* sql`UPDATE test_runs SET claimed_until = now() WHERE status = 'running'`.pipe(Effect.orDie)

      const findAgent = Effect.fnUntraced(function* (workspace: string, id: string) {
        const rows = yield* sql<AgentRow>`SELECT * FROM agents
          WHERE id = ${id} AND workspace_id = ${workspace} AND deleted_at IS NULL`.pipe(Effect.orDie)
        const row = rows[0]
        return row === undefined ? yield* notFound("Agent") : row
      })

      const testsFor = Effect.fnUntraced(function* (workspace: string, agentId: string, input: TestsRun) {
        if (input.test_ids === undefined) {
          const rows = yield* sql<TestRow>`SELECT t.* FROM agent_tests t JOIN attached_tests x ON x.test_id = t.id
            WHERE x.agent_id = ${agentId} ORDER BY x.seq`.pipe(Effect.orDie)
          return rows.length === 0 ? yield* new BadRequest({ message: "No test is attached to the agent" }) : rows
        }
        const ids = [...new Set(input.test_ids)]
        if (ids.length === 0) return yield* new BadRequest({ message: "No test is named" })
        const rows = yield* sql<TestRow>`SELECT * FROM agent_tests
          WHERE workspace_id = ${workspace} AND ${sql.in("id", ids)}`.pipe(Effect.orDie)
        const faults = input.test_ids.flatMap((id, index) =>
          rows.some((row) => row.id === id) ? [] : [fault(["body", "test_ids", index], "unknown test")]
        )
        if (faults.length > 0) return yield* invalid(faults)
        return ids.flatMap((id) => rows.filter((row) => row.id === id))
      })

      const batchRows = (workspace: string, agentId: string, more: Statement.Fragment) =>
        sql<BatchRow>`SELECT b.id, b.seq, b.agent_id, b.config_hash, b.created_at, r.*
          FROM test_batches b CROSS JOIN LATERAL (SELECT count(*)::int AS total,
              count(*) FILTER (WHERE status = 'passed')::int AS passed,
              count(*) FILTER (WHERE status = 'failed')::int AS failed,
              count(*) FILTER (WHERE status = 'error')::int AS errors,
              max(finished_at) AS finished_at
            FROM test_runs WHERE batch_id = b.id) r
          WHERE b.workspace_id = ${workspace} AND b.agent_id = ${agentId} ${more}`.pipe(Effect.orDie)

      const batch = Effect.fnUntraced(function* (workspace: string, agentId: string, id: string) {
        const [row] = yield* batchRows(workspace, agentId, sql`AND b.id = ${id}`)
        if (row === undefined) return yield* notFound("Test batch")
        const runs = yield* sql<RunRow>`SELECT * FROM test_runs WHERE batch_id = ${id} ORDER BY seq`.pipe(Effect.orDie)
        return { ...showBatch(row), test_runs: runs.map(showRun) }
      })

      return {
        wakeUp,
        batch,

        begin: Effect.fn("TestRuns.begin")(
          function* (workspace, agentId, input) {
            const agent = yield* findAgent(workspace, agentId)
            const tests = yield* testsFor(workspace, agentId, input)
            const open = yield* sql`SELECT 1 FROM test_runs
              WHERE workspace_id = ${workspace} AND status IN ('queued', 'running')`
            if (open.length + tests.length > mostWaiting) {
              return yield* new TooManyRequests({ message: "Too many tests are waiting to be run" })
            }
            const config = decodeConfig(agent.draft)
            const pinned = yield* pinTools(sql, workspace, config.tools.tool_ids, agent.draft_hash)
            const ids = config.knowledge_base.knowledge_source_ids
            const { hash, knowledge } = yield* pinKnowledge(sql, workspace, ids, pinned.hash)
            const id = newId("batch")
            yield* sql`INSERT INTO test_batches (id, workspace_id, agent_id, agent_name, config, config_hash, tools,
                knowledge)
              VALUES (${id}, ${workspace}, ${agentId}, ${agent.name}, ${JSON.stringify(config)}::jsonb, ${hash},
                ${JSON.stringify(pinned.tools)}::jsonb, ${JSON.stringify(knowledge)}::jsonb)`
            for (const test of tests) {
              yield* sql`INSERT INTO test_runs (id, workspace_id, batch_id, agent_id, test_id, definition)
                VALUES (${newId("run")}, ${workspace}, ${id}, ${agentId}, ${test.id},
                  ${JSON.stringify(test.definition)}::jsonb)`
            }
            return yield* batch(workspace, agentId, id)
          },
          (effect) =>
            sql.withTransaction(effect).pipe(
              Effect.catchTag("SqlError", Effect.die),
              Effect.tap(() => wakeUp.open)
            )
        ),

        claim: Effect.gen(function* () {
          // One at a time: each counts what the others hold.
          yield* sql`SELECT pg_advisory_xact_lock(hashtext('parley/test_runs'))`
          yield* sql`UPDATE test_runs SET status = 'error', error = 'interrupted: the service stopped',
              claimed_until = NULL, finished_at = now()
            WHERE status = 'running' AND claimed_until <= now() AND attempts >= ${mostAttempts}`
          const rows = yield* sql<RunRow>`UPDATE test_runs SET status = 'running', attempts = attempts + 1,
              claimed_until = now() + make_interval(secs => ${leaseSeconds})
            WHERE id = (SELECT r.id FROM test_runs r
              WHERE (r.status = 'queued' OR (r.status = 'running' AND r.claimed_until <= now()))
                AND (SELECT count(*) FROM test_runs o WHERE o.workspace_id = r.workspace_id
                  AND o.status = 'running' AND o.claimed_until > now()) < ${mostAtOnce}
              ORDER BY r.seq LIMIT 1)
            RETURNING *`
          const run = rows[0]
          if (run === undefined) return undefined
          const batches = yield* sql<{
            agent_name: string
            config: unknown
            config_hash: string
            tools: ReadonlyArray<{ readonly tool_id: string; readonly definition: unknown }>
            knowledge: ReadonlyArray<PinnedSource>
          }>`SELECT agent_name, config, config_hash, tools, knowledge FROM test_batches WHERE id = ${run.batch_id}`
          const found = batches[0]
          if (found === undefined) return undefined
          const config = decodeConfig(found.config)
          return {
            id: run.id,
            workspaceId: run.workspace_id,
            agentId: run.agent_id,
            agentName: found.agent_name,
            configHash: found.config_hash,
            test: decodeTest(run.definition),
            config,
            tools: found.tools.map(({ definition, tool_id }) => ({ tool_id, definition: decodeTool(definition) })),
            knowledge: yield* knowledgeFor(sql, config.knowledge_base, found.knowledge)
          }
        }).pipe(sql.withTransaction, Effect.orDie),

        finish: (id, { error, expectations, items, latencyMs, status }) =>
          sql`UPDATE test_runs SET status = ${status}, error = ${error}, latency_ms = ${latencyMs},
              items = ${storableJson(items)}::jsonb, expectations = ${storableJson(expectations)}::jsonb,
              claimed_until = NULL, finished_at = now()
            WHERE id = ${id} AND status = 'running'`.pipe(Effect.orDie, Effect.asVoid),

        batches: Effect.fn("TestRuns.batches")(function* (workspace, agentId, page) {
          yield* findAgent(workspace, agentId)
          const window = yield* openWindow(page)
          const keyset = window.after ? sql`AND b.seq < ${window.after}::bigint` : sql``
          const rows = yield* batchRows(
            workspace,
            agentId,
            sql`${keyset} ORDER BY b.seq DESC LIMIT ${window.limit} OFFSET ${window.offset}`
          )
          const counted = window.counted
            ? yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM test_batches
                WHERE workspace_id = ${workspace} AND agent_id = ${agentId}`.pipe(Effect.orDie)
            : []
          return closeWindow(window, rows, counted[0]?.n ?? null, (row) => row.seq, showBatch)
        }),

        list: Effect.fn("TestRuns.list")(function* (workspace, query) {
          const conditions = [sql`workspace_id = ${workspace}`]
          for (const name of ["agent_id", "test_id", "batch_id", "status"] as const) {
            const value = query[name]
            if (value !== undefined) conditions.push(sql`${sql(name)} = ${value}`)
          }
          return yield* readPage(sql, query, { from: "test_runs", where: conditions, show: showRun })
        }),

        get: Effect.fn("TestRuns.get")(function* (workspace, id) {
          const rows = yield* sql<RunRow>`SELECT * FROM test_runs
            WHERE id = ${id} AND workspace_id = ${workspace}`.pipe(Effect.orDie)
          const row = rows[0]
          if (row === undefined) return yield* notFound("Test run")
          return { ...showRun(row), items: row.items, expectations: row.expectations }
        })
      }
    })
  )
}

interface RunRow {
  readonly seq: bigint
  readonly id: string
  readonly workspace_id: string
  readonly batch_id: string
  readonly agent_id: string
  readonly test_id: string
  readonly definition: unknown
  readonly status: TestRunStatus
  readonly error: string | null
  readonly latency_ms: number | null
  readonly items: ReadonlyArray<SessionItem>
  readonly expectations: ReadonlyArray<ExpectationResult>
  readonly created_at: Date
  readonly finished_at: Date | null
}

interface BatchRow {
  readonly seq: bigint
  readonly id: string
  readonly agent_id: string
  readonly config_hash: string
  readonly total: number
  readonly passed: number
  readonly failed: number
  readonly errors: number
  readonly created_at: Date
  readonly finished_at: Date | null
}

const showRun = (row: RunRow): TestRunSummary => ({
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

const showBatch = (row: BatchRow): TestBatchSummary => {
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
