// One PostgreSQL for a whole test run: started before the first test, with a database that is migrated already and that
// tests copy instead of making their own. Nothing of it needs to survive a power cut.
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DataFolder, layer as database } from "../storage/Database.ts"
import { runPostgres } from "../storage/EmbeddedPostgres.ts"
import { sharedAddress, template } from "./TestDatabase.ts"

const started = Effect.gen(function* () {
  const data = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "parley-tests-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const { url } = yield* runPostgres(data)
  yield* Effect.scoped(
    Effect.gen(function* () {
      const admin = yield* PgClient.makeClient({ url })
      for (const setting of ["fsync", "synchronous_commit", "full_page_writes"]) {
        yield* admin.unsafe(`ALTER SYSTEM SET ${setting} = off`)
      }
      yield* admin.unsafe("SELECT pg_reload_conf()")
      yield* admin.unsafe(`CREATE DATABASE ${template}`)
    })
  )
  const migrated = new URL(Redacted.value(url))
  migrated.pathname = `/${template}`
  const folder = mkdtempSync(join(data, "template-"))
  const settings = { data: folder, databaseUrl: Redacted.make(migrated.href) }
  yield* Effect.scoped(Layer.build(database(settings).pipe(Layer.provide(DataFolder.layer(settings)))))
  return Redacted.value(url)
})

/** For vitest's `globalSetup`; returns its tear-down. */
export default async function setup(): Promise<() => Promise<void>> {
  const scope = Effect.runSync(Scope.make())
  process.env[sharedAddress] = await Effect.runPromise(
    started.pipe(Scope.provide(scope), Effect.provide(Reactivity.layer))
  )
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
