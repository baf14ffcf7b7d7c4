// What the peers of a telephone call said to each other, kept with its record.
import type { NotFound } from "@parley/contract/Errors"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../sessions/Sessions.ts"
import { Database } from "../storage/Database.ts"
import { storableJson } from "../storage/storableJson.ts"
import { rowsOf, storedJson } from "../storage/rows.ts"

/** What was said in SIP during a call. */
export class SipTraces extends Context.Service<
  SipTraces,
  {
    /** Nothing of a session that was erased. */
    readonly keep: (sessionId: string, trace: ReadonlyArray<unknown>) => Effect.Effect<void>
    /** As it was kept; empty for a call without one. */
    readonly of: (workspace: string, sessionId: string) => Effect.Effect<ReadonlyArray<unknown>, NotFound>
  }
>()("@parley/workspace/SipTraces") {
  static readonly layer: Layer.Layer<SipTraces, never, Database | Sessions | SqlClient.SqlClient> = Layer.effect(
    SipTraces,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const sessions = yield* Sessions
      return {
        keep: (sessionId, trace) =>
          sql`INSERT INTO session_ladders (session_id, ladder)
            SELECT id, ${storableJson(trace)}::jsonb FROM sessions WHERE id = ${sessionId} AND erased_at IS NULL FOR SHARE
            ON CONFLICT (session_id) DO UPDATE SET ladder = EXCLUDED.ladder`.pipe(Effect.orDie, Effect.asVoid),
        of: Effect.fnUntraced(function* (workspace, sessionId) {
          yield* sessions.find(workspace, sessionId)
          const rows = yield* traceRows(sql`SELECT ladder FROM session_ladders
            WHERE session_id = ${sessionId}`).pipe(Effect.orDie)
          return rows[0]?.ladder ?? []
        })
      }
    })
  )
}

const traceRows = rowsOf("session_ladders", Schema.Struct({ ladder: storedJson<ReadonlyArray<unknown>>() }))
