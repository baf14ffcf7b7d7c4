// Runs of tests as a queue: claimed one by one, at most two of a workspace at the same time. A run whose process died
// is begun once more, then given up as an error.
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import type { ExpectationResult, TestDefinition } from "@parley/contract/AgentTest"
import type { SessionItem } from "@parley/contract/SessionItem"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { runnableParts, StoredParts } from "../agents/PinnedParts.ts"
import * as JobQueue from "../jobs/JobQueue.ts"
import { type CallKnowledge, knowledgeFor } from "../knowledge/PinnedKnowledge.ts"
import type { Database } from "../storage/Database.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"
import { storableJson } from "../storage/storableJson.ts"
import type { RunnableTool } from "../tools/ToolRow.ts"
import { type RunRow, runRows } from "./RunRow.ts"
import { decodeTest } from "./TestRow.ts"

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

/** What came of a run. */
export interface RunOutcome {
  readonly status: "passed" | "failed" | "error"
  /** Why it came to no result; null otherwise. */
  readonly error: string | null
  readonly latencyMs: number
  readonly items: ReadonlyArray<SessionItem>
  readonly expectations: ReadonlyArray<ExpectationResult>
}

/** Runs that wait to be held. */
export interface TestRunQueue {
  readonly queue: Pick<JobQueue.JobQueue<ClaimedRun>, "claim" | "extend" | "leaseSeconds" | "wakeUp">
  /** Once. */
  readonly finish: (id: string, outcome: RunOutcome) => Effect.Effect<void>
}

/** Longer than a run may take. */
const leaseSeconds = 180
const mostAtOnce = 2
const mostAttempts = 2

export const make: Effect.Effect<TestRunQueue, never, Database | SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runs = yield* JobQueue.make({
    table: "test_runs",
    key: ["id"],
    open: sql`t.status IN ('queued', 'running')`,
    ready: sql`(SELECT count(*) FROM test_runs o WHERE o.workspace_id = t.workspace_id
      AND o.status = 'running' AND o.claimed_until > now()) < ${mostAtOnce}`,
    order: sql`t.seq`,
    onClaim: sql`status = 'running', attempts = t.attempts + 1`,
    leaseSeconds,
    read: runRows,
    // Each claim counts what the others hold.
    oneByOne: "parley/test_runs"
  })

  const giveUp = sql`UPDATE test_runs SET status = 'error', error = 'interrupted: the service stopped',
      claimed_until = NULL, finished_at = now()
    WHERE status = 'running' AND coalesce(claimed_until, '-infinity') <= now() AND attempts >= ${mostAttempts}`

  const load = Effect.fnUntraced(function* (run: RunRow): Effect.fn.Return<ClaimedRun> {
    const batch = yield* batchParts(sql`SELECT agent_name, config, config_hash, tools, knowledge
      FROM test_batches WHERE id = ${run.batch_id}`).pipe(onlyRow, Effect.orDie)
    const { config, tools } = runnableParts(batch)
    return {
      id: run.id,
      workspaceId: run.workspace_id,
      agentId: run.agent_id,
      agentName: batch.agent_name,
      configHash: batch.config_hash,
      test: decodeTest(run.definition),
      config,
      tools,
      knowledge: yield* knowledgeFor(sql, config.knowledge_base, batch.knowledge)
    }
  })

  return {
    queue: {
      wakeUp: runs.wakeUp,
      leaseSeconds,
      extend: runs.extend,
      claim: (most) =>
        giveUp.pipe(
          Effect.orDie,
          Effect.andThen(runs.claim(most)),
          Effect.flatMap((rows) => Effect.forEach(rows, load))
        )
    },

    finish: (id, { error, expectations, items, latencyMs, status }) =>
      sql`UPDATE test_runs SET status = ${status}, error = ${error}, latency_ms = ${latencyMs},
          items = ${storableJson(items)}::jsonb, expectations = ${storableJson(expectations)}::jsonb,
          claimed_until = NULL, finished_at = now()
        WHERE id = ${id} AND status = 'running'`.pipe(Effect.orDie, Effect.asVoid)
  }
})

const batchParts = rowsOf(
  "test_batches",
  Schema.Struct({ ...StoredParts.fields, agent_name: Schema.String, config_hash: Schema.String })
)
