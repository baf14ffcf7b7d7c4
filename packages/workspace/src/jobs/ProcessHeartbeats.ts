// Which service processes are alive on this database. A call lives and dies with its process; one not seen for 20
// seconds is gone, and its peers settle its calls. A process that has the database to itself needs no wait: at its
// start all others are gone.
import { Context, Effect, Layer, Schedule } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { Database } from "../storage/Database.ts"

/** This process among those on the database. */
export class ProcessHeartbeats extends Context.Service<
  ProcessHeartbeats,
  {
    readonly processId: string
    /** A subquery for the ids of those alive. */
    readonly living: Statement.Fragment
  }
>()("@parley/workspace/ProcessHeartbeats") {
  static readonly layer: Layer.Layer<ProcessHeartbeats, never, Database | SqlClient.SqlClient> = Layer.effect(
    ProcessHeartbeats,
    Effect.gen(function* () {
      const { alone } = yield* Database
      const sql = yield* SqlClient.SqlClient
      const processId = newId("process")
      const attend = sql`INSERT INTO processes (id) VALUES (${processId})
        ON CONFLICT (id) DO UPDATE SET seen_at = now()`
      if (alone) yield* sql`DELETE FROM processes`.pipe(Effect.orDie)
      yield* Effect.acquireRelease(attend.pipe(Effect.orDie), () =>
        sql`DELETE FROM processes WHERE id = ${processId}`.pipe(Effect.ignore)
      )
      yield* attend.pipe(
        Effect.andThen(sql`DELETE FROM processes WHERE seen_at < now() - interval '1 hour'`),
        Effect.catchCause(() => Effect.logWarning("The process could not be marked as alive")),
        Effect.repeat(Schedule.spaced("5 seconds")),
        Effect.delay("5 seconds"),
        Effect.forkScoped
      )
      return { processId, living: sql`SELECT id FROM processes WHERE seen_at > now() - interval '20 seconds'` }
    })
  )
}
