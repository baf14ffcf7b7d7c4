// What came of a delivery: pending until an endpoint answers 2xx (delivered) or three attempts are over (failed). Every
// delivery goes out at least once in all: what a dead process had begun is sent again.
import { type NotFound, notFound } from "@parley/contract/Errors"
import { WebhookDelivery } from "@parley/contract/WebhookDelivery"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { finder } from "../storage/records.ts"
import { rowsOf } from "../storage/rows.ts"
import { type ClaimedDelivery, Outbox } from "./Outbox.ts"

/** One request and what was answered. */
export interface Attempt {
  readonly sentAt: Date
  readonly latencyMs: number
  /** Undefined when nothing answered. */
  readonly statusCode: number | undefined
  /** The beginning of what it answered. */
  readonly response: string | undefined
  readonly error: string | undefined
}

/** Waits before the second and the third attempt. */
const retryWaitsMs = [1_000, 5_000] as const

/** Deliveries and their attempts. */
export class Deliveries extends Context.Service<
  Deliveries,
  {
    /** Notes an attempt, and when the next one is due, if there is one. Nothing of a delivery that was erased meanwhile. */
    readonly settle: (delivery: ClaimedDelivery, attempt: Attempt) => Effect.Effect<void>
    /** In the order of the events. */
    readonly ofSession: (
      workspace: string,
      sessionId: string
    ) => Effect.Effect<ReadonlyArray<WebhookDelivery>, NotFound>
    /** From the beginning: three attempts more, the same bytes. Nothing happens to one that is pending. */
    readonly resend: (workspace: string, id: string) => Effect.Effect<void, NotFound>
  }
>()("@parley/workspace/Deliveries") {
  static readonly layer: Layer.Layer<Deliveries, never, Outbox | SqlClient.SqlClient> = Layer.effect(
    Deliveries,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { queue } = yield* Outbox
      const find = finder(sql, {
        table: "webhook_deliveries",
        noun: "Webhook delivery",
        columns: sql`t.id`,
        read: rowsOf("webhook_deliveries", Schema.Struct({ id: Schema.String }))
      })
      return {
        settle: Effect.fnUntraced(
          function* ({ attempts, id }, attempt) {
            const number = attempts + 1
            const code = attempt.statusCode ?? 0
            const waitMs = retryWaitsMs[attempts % (retryWaitsMs.length + 1)]
            const status = code >= 200 && code < 300 ? "delivered" : waitMs === undefined ? "failed" : "pending"
            yield* sql`INSERT INTO webhook_attempts
                (delivery_id, attempt, sent_at, latency_ms, status_code, response, error)
              SELECT id, ${number}::int, ${attempt.sentAt}::timestamptz, ${Math.round(attempt.latencyMs)}::int,
                ${attempt.statusCode ?? null}::int, ${attempt.response ?? null}::text, ${attempt.error ?? null}::text
              FROM webhook_deliveries WHERE id = ${id}
              ON CONFLICT (delivery_id, attempt) DO NOTHING`
            yield* sql`UPDATE webhook_deliveries SET status = ${status}, attempts = ${number}, claimed_until = NULL,
                due_at = now() + make_interval(secs => ${(waitMs ?? 0) / 1000}::float8),
                finished_at = CASE WHEN ${status} = 'pending' THEN NULL ELSE now() END
              WHERE id = ${id}`
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.orDie)
        ),

        ofSession: Effect.fnUntraced(function* (workspace, sessionId) {
          // One row without a delivery for a session that told nobody.
          const rows =
            yield* deliveryRows(sql`SELECT d.id, d.event, d.url, d.body, d.status, d.created_at, d.finished_at,
              coalesce((SELECT jsonb_agg(jsonb_build_object('attempt', a.attempt, 'sent_at', a.sent_at,
                'latency_ms', a.latency_ms, 'status_code', a.status_code, 'response', a.response, 'error', a.error)
                ORDER BY a.attempt) FROM webhook_attempts a WHERE a.delivery_id = d.id), '[]') AS attempts
            FROM sessions s LEFT JOIN webhook_deliveries d ON d.session_id = s.id AND d.workspace_id = s.workspace_id
            WHERE s.id = ${sessionId} AND s.workspace_id = ${workspace} ORDER BY d.seq`).pipe(Effect.orDie)
          if (rows.length === 0) return yield* notFound("Session")
          return rows.flatMap((row) => (row.id === null ? [] : [show(row)]))
        }),

        resend: Effect.fnUntraced(function* (workspace, id) {
          yield* find(workspace, id)
          yield* sql`UPDATE webhook_deliveries SET status = 'pending', due_at = now(), finished_at = NULL,
              attempts = ((attempts + 2) / 3) * 3 WHERE id = ${id} AND status <> 'pending'`.pipe(Effect.orDie)
          yield* queue.wakeUp.open
        })
      }
    })
  )
}

const DeliveryRow = Schema.Struct({
  id: Schema.String,
  event: Schema.String,
  url: Schema.String,
  body: Schema.String,
  status: WebhookDelivery.fields.status,
  created_at: Schema.Date,
  finished_at: Schema.NullOr(Schema.Date),
  attempts: WebhookDelivery.fields.attempts
})
type DeliveryRow = typeof DeliveryRow.Type

const deliveryRows = rowsOf("webhook_deliveries", Schema.Union([DeliveryRow, Schema.Struct({ id: Schema.Null })]))

const show = ({ body, created_at, finished_at, id, ...row }: DeliveryRow): WebhookDelivery => ({
  delivery_id: id,
  ...row,
  request_body: body,
  created_at: created_at.toISOString(),
  finished_at: finished_at?.toISOString() ?? null,
  attempts: row.attempts.map((attempt) => ({ ...attempt, sent_at: new Date(attempt.sent_at).toISOString() }))
})
