// Where an event waits to be sent: one row per endpoint, in the transaction of the change it tells of, so that neither
// is without the other. The body is fixed here: every attempt sends the same bytes.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { decodeConfig } from "../agents/AgentRow.ts"
import * as JobQueue from "../jobs/JobQueue.ts"
import type { Database } from "../storage/Database.ts"
import { newId } from "../storage/Id.ts"
import { rowsOf } from "../storage/rows.ts"
import { secretOwner } from "../storage/SecretOwner.ts"
import { Secrets } from "../storage/Secrets.ts"

/** What endpoints can be told of a session. */
export type WebhookEvent = "call.ended" | "call.analyzed" | "phone_call.dial_finished"

/** What decides who is told of a session: the version it runs. */
export interface ToldSession {
  readonly id: string
  readonly workspace_id: string
  readonly agent_id: string
  /** Null for a preview, which tells nobody. */
  readonly version_number: number | null
  readonly preview: boolean
}

const ClaimedDelivery = Schema.Struct({
  id: Schema.String,
  event: Schema.String,
  url: Schema.String,
  /** Sealed. */
  secret: Schema.NullOr(Schema.String),
  body: Schema.String,
  /** Attempts before this one. */
  attempts: Schema.Int
})
/** A delivery whose turn it is. */
export type ClaimedDelivery = typeof ClaimedDelivery.Type

/** Longer than an attempt may take. */
const leaseSeconds = 30

/** Events that wait to be sent. */
export class Outbox extends Context.Service<
  Outbox,
  {
    /**
     * For each endpoint of the version the session runs; previews tell nobody. Part of the caller's transaction, who opens
     * `queue.wakeUp` after the commit.
     */
    readonly put: (session: ToldSession, event: WebhookEvent, body: string) => Effect.Effect<void, SqlError>
    /**
     * Deliveries that are due. Endpoints of one session are independent of each other; for one endpoint the events of a
     * session go out in their order: none is due while an earlier one is pending.
     */
    readonly queue: JobQueue.JobQueue<ClaimedDelivery>
  }
>()("@parley/workspace/Outbox") {
  static readonly layer: Layer.Layer<Outbox, never, Database | SqlClient.SqlClient | Secrets> = Layer.effect(
    Outbox,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { moved } = yield* Secrets
      const queue = yield* JobQueue.make({
        table: "webhook_deliveries",
        key: ["id"],
        open: sql`t.status = 'pending'`,
        ready: sql`NOT EXISTS (SELECT 1 FROM webhook_deliveries e WHERE e.session_id = t.session_id
          AND e.url = t.url AND e.seq < t.seq AND e.status = 'pending')`,
        order: sql`t.seq`,
        leaseSeconds,
        read: rowsOf("webhook_deliveries", ClaimedDelivery)
      })
      return {
        queue,
        put: Effect.fnUntraced(function* (session, event, body) {
          if (session.preview) return
          const [version] = yield* configRows(sql`SELECT config FROM agent_versions
            WHERE agent_id = ${session.agent_id} AND version_number = ${session.version_number}`)
          if (version === undefined) return
          for (const { secret, url } of decodeConfig(version.config).webhooks.post_call) {
            const id = newId("delivery")
            const own = secret && moved(secret, secretOwner.agent(session.agent_id), secretOwner.delivery(id))
            yield* sql`INSERT INTO webhook_deliveries (id, workspace_id, session_id, event, url, secret, body)
              VALUES (${id}, ${session.workspace_id}, ${session.id}, ${event}, ${url}, ${own}, ${body})`
          }
        })
      }
    })
  )
}

const configRows = rowsOf("agent_versions", Schema.Struct({ config: Schema.Unknown }))
