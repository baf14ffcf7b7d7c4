// The states of a delivery: pending until an endpoint answers 2xx (delivered) or three attempts are over (failed).
// Endpoints of one session are independent; for one endpoint the events of a session go out in their order. A claim
// is a lease: what a dead process had claimed is sent again, at least once in all; at once where no other process can
// be at work on the database.
import { type NotFound, notFound } from "@parley/contract/Errors"
import type { WebhookDelivery } from "@parley/contract/WebhookDelivery"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../storage/Database.ts"
import { Outbox } from "./Outbox.ts"

export interface ClaimedDelivery {
  readonly id: string
  readonly event: string
  readonly url: string
  /** Sealed. */
  readonly secret: string | null
  readonly body: string
  /** Attempts before this one. */
  readonly attempts: number
}

export interface Attempt {
  readonly sentAt: Date
  readonly latencyMs: number
  readonly statusCode: number | undefined
  /** The beginning of what it answered. */
  readonly response: string | undefined
  readonly error: string | undefined
}

/** Waits before the second and the third attempt. */
export const retryWaitsMs = [1_000, 5_000] as const

/** Longer than an attempt may take. */
const leaseSeconds = 30

export class Deliveries extends Context.Service<
  Deliveries,
  {
    /** Due ones, at most so many, each for whoever asked first. */
    readonly claim: (most: number) => Effect.Effect<ReadonlyArray<ClaimedDelivery>>
    readonly settle: (delivery: ClaimedDelivery, attempt: Attempt) => Effect.Effect<void>
    readonly ofSession: (
      workspace: string,
      sessionId: string
    ) => Effect.Effect<ReadonlyArray<WebhookDelivery>, NotFound>
    /** From the beginning: three attempts more, the same bytes. */
    readonly resend: (workspace: string, id: string) => Effect.Effect<void, NotFound>
  }
>()("@parley/workspace/Deliveries") {
  static readonly layer: Layer.Layer<Deliveries, never, Database | Outbox | SqlClient.SqlClient> = Layer.effect(
    Deliveries,
    Effect.gen(function* () {
      const { alone } = yield* Database
      const sql = yield* SqlClient.SqlClient
      const { wakeUp } = yield* Outbox
      if (alone) {
        yield* sql`UPDATE webhook_deliveries SET claimed_until = NULL
          WHERE status = 'pending' AND claimed_until IS NOT NULL`.pipe(Effect.orDie)
      }
      return {
        claim: (most) =>
          sql<ClaimedDelivery>`UPDATE webhook_deliveries
            SET claimed_until = now() + make_interval(secs => ${leaseSeconds})
            WHERE id IN (
              SELECT d.id FROM webhook_deliveries d
              WHERE d.status = 'pending' AND d.due_at <= now() AND coalesce(d.claimed_until, '-infinity') <= now()
                AND NOT EXISTS (SELECT 1 FROM webhook_deliveries e WHERE e.session_id = d.session_id
                  AND e.url = d.url AND e.seq < d.seq AND e.status = 'pending')
              ORDER BY d.seq LIMIT ${most} FOR UPDATE SKIP LOCKED)
            RETURNING id, event, url, secret, body, attempts`.pipe(Effect.orDie),

        settle: Effect.fnUntraced(
          function* ({ attempts, id }, attempt) {
            const number = attempts + 1
            const code = attempt.statusCode ?? 0
            const waitMs = retryWaitsMs[attempts % (retryWaitsMs.length + 1)]
            const status = code >= 200 && code < 300 ? "delivered" : waitMs === undefined ? "failed" : "pending"
            yield* sql`INSERT INTO webhook_attempts
                (delivery_id, attempt, sent_at, latency_ms, status_code, response, error)
              VALUES (${id}, ${number}, ${attempt.sentAt}, ${Math.round(attempt.latencyMs)},
                ${attempt.statusCode ?? null}, ${attempt.response ?? null}, ${attempt.error ?? null})
              ON CONFLICT (delivery_id, attempt) DO NOTHING`
            yield* sql`UPDATE webhook_deliveries SET status = ${status}, attempts = ${number}, claimed_until = NULL,
                due_at = now() + make_interval(secs => ${(waitMs ?? 0) / 1000}::float8),
                finished_at = CASE WHEN ${status} = 'pending' THEN NULL ELSE now() END
              WHERE id = ${id}`
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.orDie)
        ),

        ofSession: Effect.fnUntraced(function* (workspace, sessionId) {
          const known = yield* sql`SELECT 1 FROM sessions WHERE id = ${sessionId} AND workspace_id = ${workspace}`.pipe(
            Effect.orDie
          )
          if (known.length === 0) return yield* notFound("Session")
          const rows =
            yield* sql<DeliveryRow>`SELECT d.id, d.event, d.url, d.body, d.status, d.created_at, d.finished_at,
              coalesce((SELECT jsonb_agg(jsonb_build_object('attempt', a.attempt, 'sent_at', a.sent_at,
                'latency_ms', a.latency_ms, 'status_code', a.status_code, 'response', a.response, 'error', a.error)
                ORDER BY a.attempt) FROM webhook_attempts a WHERE a.delivery_id = d.id), '[]') AS attempts
            FROM webhook_deliveries d WHERE d.session_id = ${sessionId} AND d.workspace_id = ${workspace}
            ORDER BY d.seq`.pipe(Effect.orDie)
          return rows.map(show)
        }),

        resend: Effect.fnUntraced(function* (workspace, id) {
          const rows = yield* sql`UPDATE webhook_deliveries SET status = 'pending', due_at = now(), finished_at = NULL,
              attempts = ((attempts + 2) / 3) * 3
            WHERE id = ${id} AND workspace_id = ${workspace} AND status <> 'pending' RETURNING id`.pipe(Effect.orDie)
          if (rows.length === 0) {
            const known = yield* sql`SELECT 1 FROM webhook_deliveries
              WHERE id = ${id} AND workspace_id = ${workspace}`.pipe(Effect.orDie)
            if (known.length === 0) return yield* notFound("Webhook delivery")
          }
          yield* wakeUp.open
        })
      }
    })
  )
}

interface DeliveryRow {
  readonly id: string
  readonly event: string
  readonly url: string
  readonly body: string
  readonly status: WebhookDelivery["status"]
  readonly created_at: Date
  readonly finished_at: Date | null
  readonly attempts: WebhookDelivery["attempts"]
}

const show = ({ body, created_at, finished_at, id, ...row }: DeliveryRow): WebhookDelivery => ({
  delivery_id: id,
  ...row,
  request_body: body,
  created_at: created_at.toISOString(),
  finished_at: finished_at?.toISOString() ?? null,
  attempts: row.attempts.map((attempt) => ({ ...attempt, sent_at: new Date(attempt.sent_at).toISOString() }))
})
