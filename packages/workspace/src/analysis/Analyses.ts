// The states of an analysis: queued with the end of its session, then completed, skipped or error, each told once to
// the endpoints. Claims are leases: what a dead process had begun is begun again, at once where no other process can be
// at work on the database.
import { decodeConfig } from "../agents/Agents.ts"
import type { Analysis } from "@parley/contract/AgentConfig/Analysis"
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { Conflict, type NotFound, notFound } from "@parley/contract/Errors"
import type { SessionAnalysis } from "@parley/contract/SessionAnalysis"
import type { SessionItem } from "@parley/contract/SessionItem"
import { Context, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SessionRow } from "../sessions/SessionRow.ts"
import { Database } from "../storage/Database.ts"
import { Outbox } from "../webhooks/Outbox.ts"
import { eventBody } from "../webhooks/SessionEvent.ts"
import type { Said } from "./question.ts"

export interface QueuedAnalysis {
  readonly row: SessionRow
  readonly config: StoredConfig
  readonly said: ReadonlyArray<Said>
  /** Attempts before this one. */
  readonly attempts: number
}

export type Outcome = Omit<SessionAnalysis, "finished_at">

/** Longer than an attempt may take. */
const leaseSeconds = 120

export class Analyses extends Context.Service<
  Analyses,
  {
    /** A due one, if there is any. */
    readonly claim: Effect.Effect<QueuedAnalysis | undefined>
    readonly finish: (queued: QueuedAnalysis, outcome: Outcome) => Effect.Effect<void>
    /** Not yet: again in so long. */
    readonly later: (queued: QueuedAnalysis, waitMs: number) => Effect.Effect<void>
    /** A skipped or failed one begins anew. Fails with Conflict for any other. */
    readonly again: (workspace: string, sessionId: string) => Effect.Effect<void, NotFound | Conflict>
    readonly wakeUp: Latch.Latch
  }
>()("@parley/workspace/Analyses") {
  static readonly layer: Layer.Layer<Analyses, never, Database | Outbox | SqlClient.SqlClient> = Layer.effect(
    Analyses,
    Effect.gen(function* () {
      const { alone } = yield* Database
      const sql = yield* SqlClient.SqlClient
      const outbox = yield* Outbox
      const wakeUp = yield* Latch.make()
      if (alone) {
        yield* sql`UPDATE session_analyses SET claimed_until = NULL, attempts = attempts - 1
          WHERE status = 'queued' AND claimed_until IS NOT NULL`.pipe(Effect.orDie)
      }
      return {
        wakeUp,
        claim: Effect.gen(function* () {
          const claimed = yield* sql<{ session_id: string; attempts: number }>`UPDATE session_analyses
            SET claimed_until = now() + make_interval(secs => ${leaseSeconds}), attempts = attempts + 1
            WHERE session_id IN (SELECT session_id FROM session_analyses
              WHERE status = 'queued' AND due_at <= now() AND coalesce(claimed_until, '-infinity') <= now()
              ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING session_id, attempts - 1 AS attempts`
          const found = claimed[0]
          if (found === undefined) return undefined
          const rows = yield* sql<SessionRow & { readonly version: unknown }>`SELECT s.*, v.config AS version
            FROM sessions s JOIN agent_versions v ON v.agent_id = s.agent_id AND v.version_number = s.version_number
            WHERE s.id = ${found.session_id}`
          const row = rows[0]
          if (row === undefined) return undefined
          const items = yield* sql<{ item: SessionItem }>`SELECT item FROM session_items
            WHERE session_id = ${found.session_id} ORDER BY created_at, rank, seq`
          const said = items.flatMap(({ item }) => (item.type === "message" ? [item] : []))
          return { row, config: decodeConfig(row.version), said, attempts: found.attempts }
        }).pipe(Effect.orDie),

        finish: Effect.fnUntraced(
          function* ({ row }, { criteria_results, data, error, status, summary }) {
            const finished = yield* sql<{ finished_at: Date }>`UPDATE session_analyses SET status = ${status},
                summary = ${summary}, data = ${JSON.stringify(data)}::jsonb,
                criteria_results = ${JSON.stringify(criteria_results)}::jsonb, error = ${error},
                claimed_until = NULL, finished_at = now()
              WHERE session_id = ${row.id} AND status = 'queued' RETURNING finished_at`
            const at = finished[0]?.finished_at
            if (at === undefined) return
            const told: SessionAnalysis = {
              status,
              summary,
              data,
              criteria_results,
              finished_at: at.toISOString(),
              error
            }
            yield* outbox.put(row, "call.analyzed", eventBody("call.analyzed", row, { analysis: told }))
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.orDie)
        ),

        later: ({ row }, waitMs) =>
          sql`UPDATE session_analyses SET claimed_until = NULL,
              due_at = now() + make_interval(secs => ${waitMs / 1000}::float8)
            WHERE session_id = ${row.id} AND status = 'queued'`.pipe(Effect.orDie, Effect.asVoid),

        again: Effect.fnUntraced(function* (workspace, sessionId) {
          const rows = yield* sql<{ status: string }>`SELECT status FROM session_analyses
            WHERE session_id = ${sessionId} AND workspace_id = ${workspace}`.pipe(Effect.orDie)
          if (rows[0] === undefined) return yield* notFound("Analysis")
          const begun = yield* sql`UPDATE session_analyses SET status = 'queued', attempts = 0, due_at = now(),
              claimed_until = NULL, finished_at = NULL, error = NULL
            WHERE session_id = ${sessionId} AND status IN ('skipped', 'error') RETURNING 1`.pipe(Effect.orDie)
          if (begun.length === 0) return yield* new Conflict({ message: "The analysis is neither skipped nor failed" })
          yield* wakeUp.open
        })
      }
    })
  )
}

/** Whether anything is wanted of a call. */
export const isWanted = ({ criteria, data_fields, summary }: Analysis): boolean =>
  summary.enabled || data_fields.length > 0 || criteria.length > 0
