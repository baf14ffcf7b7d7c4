// What is kept of calls for so many days only, besides their recordings: transcripts, journals, and what was sent to
// webhooks. Removed in small statements, of sessions that ended long ago, so that no live work waits for them. Each round
// goes on where the last one ended; once a day everything is looked at anew.
import { Clock, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "./storage/Database.ts"
import { rowsOf } from "./storage/rows.ts"

/** Days that each is kept after its session or delivery ended; 0: for ever. */
export interface KeptDays {
  /** Messages and tool calls; what an analysis made of them stays. */
  readonly transcripts: number
  readonly journals: number
  /** Finished ones, with their attempts. */
  readonly deliveries: number
}

const roundEvery = "10 minutes"
const anewMs = 86_400_000
const sessionsAtOnce = 200
const rowsAtOnce = 1_000

/** Removes at once and every ten minutes, until its scope ends. */
export const layer = (days: KeptDays): Layer.Layer<never, never, Database | SqlClient.SqlClient> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const rounds = yield* removalsOf(days)
      for (const round of rounds) {
        yield* round.pipe(
          Effect.catchCause(() =>
            Effect.logWarning("What is past its days could not be removed and will be tried again")
          ),
          Effect.repeat(Schedule.spaced(roundEvery)),
          Effect.forkScoped
        )
      }
    })
  )

/** One round of each kind that does not stay for ever. Gives how many rows it removed. */
const removalsOf = Effect.fnUntraced(function* (days: KeptDays) {
  yield* Database
  const sql = yield* SqlClient.SqlClient
  const kinds = [
    [days.transcripts, partsOfSessions(sql, "session_items", days.transcripts)],
    [days.journals, partsOfSessions(sql, "session_journal", days.journals)],
    [days.deliveries, deliveries(sql, days.deliveries)]
  ] as const
  return kinds.flatMap(([kept, removal]) => (kept === 0 ? [] : [removal]))
})

const partsOfSessions = (sql: SqlClient.SqlClient, table: "session_items" | "session_journal", days: number) => {
  const start = { ended: "-infinity", number: "0" }
  let after = start
  let anewAtMs = 0

  const removeOf = (sessions: ReadonlyArray<string>) =>
    inBatches(sql`DELETE FROM ${sql(table)} WHERE ctid IN (SELECT ctid FROM ${sql(table)}
      WHERE session_id IN (SELECT jsonb_array_elements_text(${JSON.stringify(sessions)}::jsonb))
      LIMIT ${rowsAtOnce}) RETURNING 1`)

  return Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    if (nowMs >= anewAtMs) {
      after = start
      anewAtMs = nowMs + anewMs
    }
    for (let removed = 0; ;) {
      const sessions = yield* endedRows(sql`SELECT id, ended_at::text AS ended, seq::text AS number FROM sessions
        WHERE ended_at < now() - make_interval(days => ${days})
          AND (ended_at, seq) > (${after.ended}::timestamptz, ${after.number}::bigint)
        ORDER BY ended_at, seq LIMIT ${sessionsAtOnce}`)
      removed += yield* removeOf(sessions.map(({ id }) => id))
      after = sessions.at(-1) ?? after
      if (sessions.length < sessionsAtOnce) return removed
    }
  }).pipe(Effect.orDie)
}

/** One that is sent again meanwhile is passed over. */
const deliveries = (sql: SqlClient.SqlClient, days: number) =>
  inBatches(sql`DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
    WHERE finished_at < now() - make_interval(days => ${days}) AND status <> 'pending'
    LIMIT ${rowsAtOnce} FOR UPDATE SKIP LOCKED) RETURNING 1`).pipe(Effect.orDie)

/** Repeats a statement that removes at most `rowsAtOnce` rows until it removes fewer. */
const inBatches = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.gen(function* () {
    for (let removed = 0; ;) {
      const rows = yield* statement
      removed += rows.length
      if (rows.length < rowsAtOnce) return removed
    }
  })

const endedRows = rowsOf("sessions", Schema.Struct({ id: Schema.String, ended: Schema.String, number: Schema.String }))
