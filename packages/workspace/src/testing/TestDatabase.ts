// A real PostgreSQL for tests: a database of its own on DATABASE_URL when that is set, else a copy of the migrated one on
// the server of the whole test run, else an embedded server in a temporary folder. Empty, gone with the layer.
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { newId } from "../storage/Id.ts"
import { DataFolder, type Database, layer as database } from "../storage/Database.ts"
import type { StartFault } from "../storage/StartFault.ts"

/** Where the server of the test run is, in the environment. */
export const sharedAddress = "PARLEY_TESTS_DATABASE_URL"
export const template = "parley_template"

/** The address of a database for one test file; undefined when every test has to start a server of its own. */
export const ownDatabase: Effect.Effect<Redacted.Redacted<string> | undefined, never, Scope.Scope> = Effect.suspend(
  () => {
    const given = process.env["DATABASE_URL"]
    if (given !== undefined && given !== "") return made(given, "template1")
    const shared = process.env[sharedAddress]
    return shared === undefined ? Effect.succeed(undefined) : made(shared, template)
  }
)

const made = (server: string, from: string) =>
  Effect.gen(function* () {
    const name = newId("parley_test").toLowerCase()
    const admin = yield* PgClient.makeClient({ url: Redacted.make(server) })
    yield* Effect.acquireRelease(admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${from}`), () =>
      admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`).pipe(Effect.ignore)
    )
    const url = new URL(server)
    url.pathname = `/${name}`
    return Redacted.make(url.href)
  }).pipe(Effect.provide(Reactivity.layer), Effect.orDie)

const settings = Effect.gen(function* () {
  const data = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "parley-test-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  return { data, databaseUrl: yield* ownDatabase }
})

export const layer: Layer.Layer<Database | DataFolder | PgClient.PgClient | SqlClient.SqlClient, StartFault> =
  Layer.unwrap(Effect.map(settings, (chosen) => database(chosen).pipe(Layer.provideMerge(DataFolder.layer(chosen)))))
