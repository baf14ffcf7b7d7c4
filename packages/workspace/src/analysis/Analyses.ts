// The states of an analysis: queued with the end of its session, then completed, skipped or error, each told once to
// the endpoints.
import type { Analysis } from "@parley/contract/AgentConfig/Analysis"
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { Conflict, type NotFound, notFound, type PaymentRequired } from "@parley/contract/Errors"
import type { SessionAnalysis } from "@parley/contract/SessionAnalysis"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decodeConfig } from "../agents/AgentRow.ts"
import { Billing } from "../billing/Billing.ts"
import * as JobQueue from "../jobs/JobQueue.ts"
import { AnalysisQueue } from "../sessions/AnalysisQueue.ts"
import { eventBody } from "../sessions/SessionEvent.ts"
import { itemRows, SessionRow } from "../sessions/SessionRow.ts"
import type { Database } from "../storage/Database.ts"
import { exists, rowsOf } from "../storage/rows.ts"
import { Outbox } from "../webhooks/Outbox.ts"
import type { TranscriptLine } from "./question.ts"

/** An analysis that is to be made. */
const QueuedRow = Schema.Struct({
  session_id: Schema.String,
  /** Attempts that came to nothing. */
  attempts: Schema.Int
})
/** An analysis whose turn it is. */
export type QueuedRow = typeof QueuedRow.Type

/** What it is made of. */
export interface AnalysedCall {
  readonly row: SessionRow
  readonly config: StoredConfig
  readonly transcript: ReadonlyArray<TranscriptLine>
}

/** What an analysis came to, before it is stored. */
export type Outcome = Omit<SessionAnalysis, "finished_at">

/** Longer than an attempt may take. */
const leaseSeconds = 120

/** Analyses of calls that are over. */
export class Analyses extends Context.Service<
  Analyses,
  {
    readonly queue: JobQueue.JobQueue<QueuedRow>
    /** Undefined when the session or its version is gone. */
    readonly load: (queued: QueuedRow) => Effect.Effect<AnalysedCall | undefined>
    /** Once: stored and told to the endpoints in one transaction. */
    readonly finish: (call: AnalysedCall, outcome: Outcome) => Effect.Effect<void>
    /** The attempt came to nothing: again in so long. */
    readonly later: (queued: QueuedRow, waitMs: number) => Effect.Effect<void>
    /** A skipped or failed one begins anew. Fails with Conflict for any other, with 402 when the balance is spent. */
    readonly again: (workspace: string, sessionId: string) => Effect.Effect<void, NotFound | Conflict | PaymentRequired>
  }
>()("@parley/workspace/Analyses") {
  static readonly layer: Layer.Layer<
    Analyses | AnalysisQueue,
    never,
    Billing | Database | Outbox | SqlClient.SqlClient
  > = Layer.effectContext(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const outbox = yield* Outbox
      const billing = yield* Billing
      const queue = yield* JobQueue.make({
        table: "session_analyses",
        key: ["session_id"],
        open: sql`t.status = 'queued'`,
        order: sql`t.due_at`,
        leaseSeconds,
        read: queuedRows
      })

      const jobs: AnalysisQueue["Service"] = {
        put: (row) =>
          sql`INSERT INTO session_analyses (session_id, workspace_id) VALUES (${row.id}, ${row.workspace_id})
              ON CONFLICT DO NOTHING`.pipe(Effect.asVoid),
        wake: queue.wakeUp.open
      }

      const service: Analyses["Service"] = {
        queue,

        load: Effect.fnUntraced(function* ({ session_id }) {
          const [found] = yield* callRows(sql`SELECT s.*, v.config AS version
              FROM sessions s JOIN agent_versions v ON v.agent_id = s.agent_id AND v.version_number = s.version_number
              WHERE s.id = ${session_id}`)
          if (found === undefined) return undefined
          const items = yield* itemRows(sql`SELECT item FROM session_items
              WHERE session_id = ${session_id} ORDER BY created_at, rank, seq`)
          const transcript = items.flatMap(({ item }) => (item.type === "message" ? [item] : []))
          return { row: found, config: decodeConfig(found.version), transcript }
        }, Effect.orDie),

        finish: Effect.fnUntraced(
          function* ({ row }, { criteria_results, data, error, status, summary }) {
            const [finished] = yield* finishTimes(sql`UPDATE session_analyses SET status = ${status},
                  summary = ${summary}, data = ${JSON.stringify(data)}::jsonb,
                  criteria_results = ${JSON.stringify(criteria_results)}::jsonb, error = ${error},
                  claimed_until = NULL, finished_at = now()
                WHERE session_id = ${row.id} AND status = 'queued' RETURNING finished_at`)
            if (finished === undefined) return
            const finished_at = finished.finished_at.toISOString()
            const analysis: SessionAnalysis = { status, summary, data, criteria_results, finished_at, error }
            yield* outbox.put(row, "call.analyzed", eventBody("call.analyzed", row, { analysis }))
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.andThen(outbox.queue.wakeUp.open), Effect.orDie)
        ),

        later: ({ session_id }, waitMs) =>
          sql`UPDATE session_analyses SET attempts = attempts + 1 WHERE session_id = ${session_id}`.pipe(
            Effect.orDie,
            Effect.andThen(queue.later([session_id], waitMs))
          ),

        again: Effect.fnUntraced(function* (workspace, sessionId) {
          const known = yield* exists(sql`SELECT 1 FROM session_analyses
              WHERE session_id = ${sessionId} AND workspace_id = ${workspace}`).pipe(Effect.orDie)
          if (!known) return yield* notFound("Analysis")
          yield* billing.admit(workspace, { kind: "analysis", model: "" })
          const begun = yield* exists(sql`UPDATE session_analyses SET status = 'queued', attempts = 0, due_at = now(),
                claimed_until = NULL, finished_at = NULL, error = NULL
              WHERE session_id = ${sessionId} AND status IN ('skipped', 'error') RETURNING 1`).pipe(Effect.orDie)
          if (!begun) return yield* new Conflict({ message: "The analysis is neither skipped nor failed" })
          yield* queue.wakeUp.open
        })
      }
      return Context.make(Analyses, service).pipe(Context.add(AnalysisQueue, jobs))
    })
  )
}

const queuedRows = rowsOf("session_analyses", QueuedRow)
const callRows = rowsOf("sessions", Schema.Struct({ ...SessionRow.fields, version: Schema.Unknown }))
const finishTimes = rowsOf("session_analyses", Schema.Struct({ finished_at: Schema.Date }))

/** Whether anything is wanted of a call. */
export const isWanted = ({ criteria, data_fields, summary }: Analysis): boolean =>
  summary.enabled || data_fields.length > 0 || criteria.length > 0
