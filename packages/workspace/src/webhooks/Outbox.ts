// Where an event waits to be sent: one row per endpoint, in the transaction of the change it tells of, so that neither
// is without the other. The body is fixed here: every attempt sends the same bytes.
import { Context, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { decodeConfig } from "../agents/Agents.ts"
import { newId } from "../storage/Id.ts"
import type { SessionRow } from "../sessions/SessionRow.ts"
import { Database } from "../storage/Database.ts"
import type { WebhookEvent } from "./SessionEvent.ts"

export class Outbox extends Context.Service<
  Outbox,
  {
    /** For each endpoint of the version the session runs; previews tell nobody. Part of the caller's transaction. */
    readonly put: (row: SessionRow, event: WebhookEvent, body: string) => Effect.Effect<void, SqlError>
    /** Opened when something was put: whoever sends need not wait for its next look. */
    readonly wakeUp: Latch.Latch
  }
>()("@parley/workspace/Outbox") {
  static readonly layer: Layer.Layer<Outbox, never, Database | SqlClient.SqlClient> = Layer.effect(
    Outbox,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const wakeUp = yield* Latch.make()
      return {
        wakeUp,
        put: Effect.fnUntraced(function* (row, event, body) {
          if (row.preview) return
          const versions = yield* sql<{ config: unknown }>`SELECT config FROM agent_versions
            WHERE agent_id = ${row.agent_id} AND version_number = ${row.version_number}`
          const stored = versions[0]?.config
          if (stored === undefined) return
          for (const { secret, url } of decodeConfig(stored).webhooks.post_call) {
            yield* sql`INSERT INTO webhook_deliveries (id, workspace_id, session_id, event, url, secret, body)
              VALUES (${newId("delivery")}, ${row.workspace_id}, ${row.id}, ${event}, ${url}, ${secret}, ${body})`
          }
          yield* wakeUp.open
        })
      }
    })
  )
}
