// A real PostgreSQL for tests: a database of its own on DATABASE_URL when that is set, else an embedded server in a
// temporary folder. Migrated, empty, gone with the layer.
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { newId } from "../storage/Id.ts"
import { DataFolder, type Database, layer as database } from "../storage/Database.ts"
import type { StartFault } from "../storage/StartFault.ts"

const settings = Effect.gen(function* () {
  const data = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "parley-test-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const given = process.env["DATABASE_URL"]
  return { data, databaseUrl: given === undefined ? undefined : yield* ownDatabase(given) }
})

const ownDatabase = (given: string) =>
  Effect.gen(function* () {
    const name = newId("parley_test")
    const admin = yield* PgClient.makeClient({ url: Redacted.make(given) })
    yield* Effect.acquireRelease(admin.unsafe(`CREATE DATABASE ${name}`).pipe(Effect.orDie), () =>
      admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`).pipe(Effect.ignore)
    )
    const url = new URL(given)
    url.pathname = `/${name}`
    return Redacted.make(url.href)
  }).pipe(Effect.provide(Reactivity.layer), Effect.orDie)

/** A database of its own for each layer that is built. */
export const layer: Layer.Layer<Database | DataFolder | PgClient.PgClient | SqlClient.SqlClient, StartFault> =
  Layer.unwrap(Effect.map(settings, (chosen) => database(chosen).pipe(Layer.provideMerge(DataFolder.layer(chosen)))))
