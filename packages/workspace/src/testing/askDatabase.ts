// One statement to the embedded database of a service that runs in another process: for tests that must move a
// deadline rather than wait for it.
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { findPostgres } from "../storage/EmbeddedPostgres.ts"

/** `data` is the service's data folder. Rejects when its database does not run. */
export const askDatabase = (data: string, statement: string, values: ReadonlyArray<unknown> = []) => {
  const url = findPostgres(data)
  if (url === undefined) return Promise.reject(new Error(`no database runs in ${data}`))
  return Effect.runPromise(
    Effect.flatMap(PgClient.makeClient({ url }), (sql) => sql.unsafe<Record<string, unknown>>(statement, values)).pipe(
      Effect.scoped,
      Effect.provide(Reactivity.layer)
    )
  )
}
