// Batches of test runs: an agent's draft and its tests as they are when a batch is begun.
import type {
  TestBatch,
  TestBatchSummary,
  TestRun,
  TestRunStatus,
  TestRunSummary,
  TestsRun
} from "@parley/contract/AgentTest"
import {
  BadRequest,
  type Invalid,
  invalid,
  type NotFound,
  notFound,
  type PaymentRequired,
  TooManyRequests
} from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import type { Page, PageRequest } from "@parley/contract/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { agentFinder, decodeConfig } from "../agents/AgentRow.ts"
import { pinParts } from "../agents/PinnedParts.ts"
import { Billing } from "../billing/Billing.ts"
import { Database } from "../storage/Database.ts"
import { newId } from "../storage/Id.ts"
import { closeWindow, countWhen, openWindow, readPage } from "../storage/Paging.ts"
import { finder } from "../storage/records.ts"
import { countOf } from "../storage/rows.ts"
import { readBatches, runRows, showBatch, showRun } from "./RunRow.ts"
import { type TestRow, testRows } from "./TestRow.ts"
import * as TestRunQueue from "./TestRunQueue.ts"

/** Which runs a list shows. */
export interface RunQuery extends PageRequest {
  readonly agent_id?: string
  readonly test_id?: string
  readonly batch_id?: string
  readonly status?: TestRunStatus
}

/** Runs of a workspace that are queued or running. */
const mostWaiting = 200

/** Batches of runs: begun, listed, read. */
export class TestRuns extends Context.Service<
  TestRuns,
  {
    /** Begins a batch of the agent's draft. Fails with 402 when the balance is spent. */
    readonly begin: (
      workspace: string,
      agentId: string,
      input: TestsRun
    ) => Effect.Effect<TestBatch, NotFound | BadRequest | Invalid | PaymentRequired | TooManyRequests>
    /** Runs whose turn it is. */
    readonly queue: TestRunQueue.TestRunQueue["queue"]
    readonly finish: TestRunQueue.TestRunQueue["finish"]
    readonly batches: (
      workspace: string,
      agentId: string,
      page: PageRequest
    ) => Effect.Effect<Page<TestBatchSummary>, NotFound | BadRequest>
    readonly batch: (workspace: string, agentId: string, id: string) => Effect.Effect<TestBatch, NotFound>
    readonly list: (workspace: string, query: RunQuery) => Effect.Effect<Page<TestRunSummary>, BadRequest>
    readonly get: (workspace: string, id: string) => Effect.Effect<TestRun, NotFound>
  }
>()("@parley/workspace/TestRuns") {
  static readonly layer: Layer.Layer<TestRuns, never, Billing | Database | SqlClient.SqlClient> = Layer.effect(
    TestRuns,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const billing = yield* Billing
      const { finish, queue } = yield* TestRunQueue.make
      const findAgent = agentFinder(sql)
      const findRun = finder(sql, { table: "test_runs", noun: "Test run", read: runRows })

      const batch = Effect.fnUntraced(function* (workspace: string, agentId: string, id: string) {
        const [row] = yield* readBatches(sql, workspace, agentId, sql`AND b.id = ${id}`)
        if (row === undefined) return yield* notFound("Test batch")
        const runs = yield* runRows(sql`SELECT * FROM test_runs WHERE batch_id = ${id} ORDER BY seq`).pipe(Effect.orDie)
        return { ...showBatch(row), test_runs: runs.map(showRun) }
      })

      return {
        queue,
        finish,
        batch,

        begin: Effect.fn("TestRuns.begin")(
          function* (workspace, agentId, input) {
            const agent = yield* findAgent(workspace, agentId)
            yield* billing.admit(workspace, { kind: "agent_test", model: "" })
            const tests = yield* testsFor(sql, workspace, agentId, input)
            const open = yield* countOf(sql`SELECT count(*)::int AS n FROM test_runs
              WHERE workspace_id = ${workspace} AND status IN ('queued', 'running')`)
            if (open + tests.length > mostWaiting) {
              return yield* new TooManyRequests({ message: "Too many tests are waiting to be run" })
            }
            const config = decodeConfig(agent.draft)
            // Servers of tools that are elsewhere take no part in a test.
            const tested = { ...config, tools: { ...config.tools, mcp_server_ids: [] } }
            const { hash, knowledge, tools } = yield* pinParts(sql, workspace, tested, agent.draft_hash)
            const id = newId("batch")
            yield* sql`INSERT INTO test_batches (id, workspace_id, agent_id, agent_name, config, config_hash, tools,
                knowledge)
              VALUES (${id}, ${workspace}, ${agentId}, ${agent.name}, ${JSON.stringify(config)}::jsonb, ${hash},
                ${JSON.stringify(tools)}::jsonb, ${JSON.stringify(knowledge)}::jsonb)`
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
              Effect.tap(() => queue.wakeUp.open)
            )
        ),

        batches: Effect.fn("TestRuns.batches")(function* (workspace, agentId, page) {
          yield* findAgent(workspace, agentId)
          const window = yield* openWindow(page)
          const keyset = window.after ? sql`AND b.seq < ${window.after}::bigint` : sql``
          const rows = yield* readBatches(
            sql,
            workspace,
            agentId,
            sql`${keyset} ORDER BY b.seq DESC LIMIT ${window.limit} OFFSET ${window.offset}`
          )
          const counting = sql`SELECT count(*)::int AS n FROM test_batches
            WHERE workspace_id = ${workspace} AND agent_id = ${agentId}`
          return closeWindow(window, rows, yield* countWhen(window, counting), (row) => row.seq, showBatch)
        }),

        list: Effect.fn("TestRuns.list")(function* (workspace, query) {
          const where = [sql`workspace_id = ${workspace}`]
          for (const name of ["agent_id", "test_id", "batch_id", "status"] as const) {
            const value = query[name]
            if (value !== undefined) where.push(sql`${sql(name)} = ${value}`)
          }
          return yield* readPage(sql, query, { from: "test_runs", read: runRows, where, show: showRun })
        }),

        get: Effect.fn("TestRuns.get")(function* (workspace, id) {
          const row = yield* findRun(workspace, id)
          return { ...showRun(row), items: row.items, expectations: row.expectations }
        })
      }
    })
  )
}

/** Those that are named, in that order, or all that are attached to the agent. */
const testsFor = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspace: string,
  agentId: string,
  input: TestsRun
): Effect.fn.Return<ReadonlyArray<TestRow>, BadRequest | Invalid> {
  if (input.test_ids === undefined) {
    const rows = yield* testRows(sql`SELECT t.* FROM agent_tests t JOIN attached_tests x ON x.test_id = t.id
      WHERE x.agent_id = ${agentId} ORDER BY x.seq`).pipe(Effect.orDie)
    return rows.length === 0 ? yield* new BadRequest({ message: "No test is attached to the agent" }) : rows
  }
  const ids = [...new Set(input.test_ids)]
  if (ids.length === 0) return yield* new BadRequest({ message: "No test is named" })
  const rows = yield* testRows(sql`SELECT * FROM agent_tests
    WHERE workspace_id = ${workspace} AND ${sql.in("id", ids)}`).pipe(Effect.orDie)
  const faults = input.test_ids.flatMap((id, index) =>
    rows.some((row) => row.id === id) ? [] : [fault(["body", "test_ids", index], "unknown test")]
  )
  if (faults.length > 0) return yield* invalid(faults)
  return ids.flatMap((id) => rows.filter((row) => row.id === id))
})
