// A session's way through its states: pending -> active -> completed, or pending -> failed. A telephone call is pending
// while it rings; how an outbound dial resolved is told in the transaction that resolves it. Each step is one
// conditional UPDATE, so it happens once whoever asks. Facts of a live call are stored here, batch by batch, each
// batch whole or not at all.
import type { EndReason } from "@parley/contract/EndReason"
import { Conflict } from "@parley/contract/Errors"
import type { Fact } from "@parley/contract/Fact"
import type { DynamicVariables } from "@parley/contract/SessionRequest"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Billing } from "../billing/Billing.ts"
import { ProcessHeartbeats } from "../jobs/ProcessHeartbeats.ts"
import { Database } from "../storage/Database.ts"
import { rowsOf } from "../storage/rows.ts"
import { Outbox } from "../webhooks/Outbox.ts"
import type { AnalysisQueue } from "./AnalysisQueue.ts"
import { countEnded } from "./EndedSessions.ts"
import { type ClaimedSession, prepareSession } from "./PreparedSession.ts"
import * as SessionEnding from "./SessionEnding.ts"
import { dialFinished } from "./SessionEvent.ts"
import { type SessionRow, sessionRows } from "./SessionRow.ts"
import { storeFacts } from "./storeFacts.ts"

/** Whose a call is. */
export interface Tenant {
  readonly workspaceId: string
  readonly agentId: string
}

/** The steps of a session's life. */
export class SessionLife extends Context.Service<
  SessionLife,
  {
    /** Joins, once: fails with Conflict when it is not pending, over its deadline, or unknown. */
    readonly claim: (id: string) => Effect.Effect<ClaimedSession, Conflict>
    /** What a telephone call that still rings will run, so that nothing is left to be read once it is answered. */
    readonly prepare: (row: SessionRow) => Effect.Effect<ClaimedSession>
    /** A telephone call that rang is up, once: false when it is over. Variables replace the session's. */
    readonly answered: (
      id: string,
      call: { readonly sipCallId: string; readonly dynamicVariables?: DynamicVariables }
    ) => Effect.Effect<boolean>
    /** Whose session it is, and whether a visitor without a key made it, when `claim` would succeed now. */
    readonly pending: (id: string) => Effect.Effect<(Tenant & { readonly isPublic: boolean }) | undefined>
    /** What a live call told, in order. `CallEnded` settles the session. Of a preview only the journal is kept. */
    readonly record: (id: string, facts: ReadonlyArray<Fact>) => Effect.Effect<void>
    /**
     * Ends it, if it has not ended. `from` limits what it may be ended from; `dial` is for a call that we placed and
     * nobody took, `no_answer` when left out. True when this call ended it.
     */
    readonly settle: (
      id: string,
      reason: EndReason,
      from?: "pending" | "active",
      dial?: SessionEnding.FailedDial
    ) => Effect.Effect<boolean>
    /** Pending sessions over their deadline become failed, room_join_timeout. Returns how many. */
    readonly expire: Effect.Effect<number>
    /**
     * Active sessions of processes that are gone become completed, internal_error, at their last known fact; telephone
     * calls that rang there become failed. Previews that ended a day ago are deleted. Returns how many sessions ended.
     */
    readonly settleOrphans: Effect.Effect<number>
  }
>()("@parley/workspace/SessionLife") {
  static readonly layer: Layer.Layer<
    SessionLife,
    never,
    AnalysisQueue | ProcessHeartbeats | Database | Billing | Outbox | SqlClient.SqlClient
  > = Layer.effect(
    SessionLife,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const { processId } = yield* ProcessHeartbeats
      const outbox = yield* Outbox
      const ending = yield* SessionEnding.make

      return {
        claim: Effect.fn("SessionLife.claim")(function* (id) {
          const [row] = yield* sessionRows(sql`UPDATE sessions
            SET status = 'active', started_at = now(), last_fact_at = now(), owner = ${processId}
            WHERE id = ${id} AND status = 'pending' AND expires_at > now() RETURNING *`).pipe(Effect.orDie)
          if (row === undefined) return yield* new Conflict({ message: "The session cannot be joined" })
          return yield* prepareSession(sql, row)
        }),

        prepare: (row) => prepareSession(sql, row),

        answered: Effect.fn("SessionLife.answered")(
          function* (id, { dynamicVariables, sipCallId }) {
            const variables = dynamicVariables === undefined ? null : JSON.stringify(dynamicVariables)
            const [row] = yield* sessionRows(sql`UPDATE sessions SET status = 'active', started_at = now(),
                last_fact_at = now(), owner = ${processId}, sip_call_id = ${sipCallId},
                dial_status = CASE direction WHEN 'outbound' THEN 'answered' END,
                answered_by = CASE direction WHEN 'outbound' THEN 'unknown' END,
                request = CASE WHEN ${variables}::jsonb IS NULL THEN request
                  ELSE jsonb_set(request, '{dynamicVariables}', ${variables}::jsonb) END
              WHERE id = ${id} AND source = 'phone' AND status = 'pending' RETURNING *`)
            if (row?.direction === "outbound") {
              yield* outbox.put(row, "phone_call.dial_finished", dialFinished(row))
            }
            return row !== undefined
          },
          (effect) =>
            sql.withTransaction(effect).pipe(
              Effect.andThen((up) => Effect.as(ending.wake, up)),
              Effect.orDie
            )
        ),

        pending: (id) =>
          tenantRows(sql`SELECT workspace_id, agent_id, source = 'public' AS is_public FROM sessions
            WHERE id = ${id} AND status = 'pending' AND expires_at > now()`).pipe(
            Effect.map(
              ([row]) => row && { workspaceId: row.workspace_id, agentId: row.agent_id, isPublic: row.is_public }
            ),
            Effect.orDie
          ),

        record: (id, facts) => {
          if (facts.length === 0) return Effect.void
          const end = facts.find((fact) => fact._tag === "CallEnded")
          return storeFacts(sql, id, facts).pipe(
            Effect.andThen(
              end === undefined ? Effect.succeed(false) : ending.end(id, { reason: end.reason, at: end.at })
            ),
            sql.withTransaction,
            Effect.flatMap((ended) =>
              ended && end !== undefined ? Effect.andThen(ending.wake, countEnded(end.reason)) : Effect.void
            ),
            Effect.orDie,
            Effect.withSpan("SessionLife.record")
          )
        },

        settle: (id, reason, from, dial) =>
          sql.withTransaction(ending.end(id, { reason, from, dial })).pipe(
            Effect.tap((ended) => (ended ? Effect.andThen(ending.wake, countEnded(reason)) : Effect.void)),
            Effect.orDie,
            Effect.withSpan("SessionLife.settle")
          ),

        expire: sql`UPDATE sessions SET status = 'failed', end_reason = 'room_join_timeout', ended_at = expires_at
          WHERE status = 'pending' AND source <> 'phone' AND expires_at <= now() RETURNING id`.pipe(
          Effect.map((rows) => rows.length),
          Effect.tap((expired) => countEnded("room_join_timeout", expired)),
          Effect.orDie
        ),

        settleOrphans: sql`DELETE FROM sessions WHERE preview AND ended_at < now() - interval '1 day'`.pipe(
          Effect.andThen(ending.endOrphans),
          sql.withTransaction,
          Effect.tap((reasons) => Effect.forEach(reasons, (reason) => countEnded(reason))),
          Effect.tap(ending.wake),
          Effect.map((reasons) => reasons.length),
          Effect.orDie
        )
      }
    })
  )
}

const tenantRows = rowsOf(
  "sessions",
  Schema.Struct({ workspace_id: Schema.String, agent_id: Schema.String, is_public: Schema.Boolean })
)
