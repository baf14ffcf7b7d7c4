import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { PgClient } from "@effect/sql-pg"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { serviceAddress } from "../../src/storage/DatabaseRole.ts"
import { DataFolder, layer as database } from "../../src/storage/Database.ts"
import { findPostgres, runPostgres } from "../../src/storage/EmbeddedPostgres.ts"
import { lockFolder } from "../../src/storage/FolderLock.ts"
import { birthOf, isAlive } from "../../src/storage/ProcessProbe.ts"

const as = <A>(url: Redacted.Redacted<string>, use: (sql: PgClient.PgClient) => Effect.Effect<A, unknown>) =>
  Effect.scoped(Effect.flatMap(PgClient.makeClient({ url }), use)).pipe(Effect.provide(Reactivity.layer))

const folderIn = (parent: string) =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(parent, "parley-pg-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** A service that takes the folder, starts the database and then waits to be killed. */
const victim = fileURLToPath(new URL("./victim.ts", import.meta.url))
const killedService = (folder: string) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [victim, folder], { stdio: ["ignore", "pipe", "inherit"] })
    const [line] = (await once(child.stdout, "data")) as [Buffer]
    child.kill("SIGKILL")
    await once(child, "exit")
    return Number(String(line))
  })

const holding = (folder: string) =>
  Layer.provideMerge(
    database({ data: folder, databaseUrl: undefined }),
    DataFolder.layer({ data: folder, databaseUrl: undefined })
  )

describe("EmbeddedPostgres", () => {
  it.live("adopts the server a killed service left, with what it acknowledged", () =>
    Effect.gen(function* () {
      const folder = yield* folderIn(tmpdir())
      const pid = yield* killedService(folder)
      assert.isTrue(isAlive(pid))
      const rows = yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT value FROM settings WHERE name = 'left'`
      ).pipe(Effect.provide(holding(folder)))
      assert.deepStrictEqual(rows, [{ value: "behind" }])
      assert.isFalse(existsSync(join(folder, "postgres", "postmaster.pid")))
      assert.isFalse(existsSync(join(folder, "lock")))
      assert.isUndefined(findPostgres(folder))
    })
  )

  it.live("starts over a stale pid file, also when another process has that id now", () =>
    Effect.gen(function* () {
      const folder = yield* folderIn(tmpdir())
      const pid = yield* killedService(folder)
      process.kill(pid, "SIGKILL")
      while (existsSync(`/proc/${pid}/cwd`)) yield* Effect.sleep("10 millis")
      const file = join(folder, "postgres", "postmaster.pid")
      writeFileSync(file, `${process.pid}\n${join(folder, "postgres")}\n1\n5432\n\n127.0.0.1\n\nready\n`)
      const rows = yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT value FROM settings WHERE name = 'left'`
      ).pipe(Effect.provide(holding(folder)))
      assert.deepStrictEqual(rows, [{ value: "behind" }])
    })
  )

  it.live("refuses a folder that a living service holds", () =>
    Effect.gen(function* () {
      const folder = yield* folderIn(tmpdir())
      const child = spawn(process.execPath, [victim, folder, "patient"], { stdio: ["ignore", "pipe", "inherit"] })
      yield* Effect.promise(() => once(child.stdout, "data"))
      const refusal = yield* Effect.flip(Effect.scoped(lockFolder(folder)))
      assert.include(refusal.message, `process ${child.pid}`)
      assert.include(refusal.message, folder)
      child.kill("SIGTERM")
      yield* Effect.promise(() => once(child, "exit"))
      yield* Effect.scoped(lockFolder(folder))
    })
  )

  it.live("keeps its files to itself and stops within its scope", () =>
    Effect.gen(function* () {
      const folder = yield* folderIn(tmpdir())
      const pid = yield* Effect.scoped(
        Effect.gen(function* () {
          const running = yield* runPostgres(folder)
          assert.strictEqual(Redacted.value(findPostgres(folder) ?? Redacted.make("")), Redacted.value(running.url))
          return running.pid
        })
      )
      assert.isUndefined(birthOf(pid))
      assert.strictEqual(statSync(join(folder, "postgres-password")).mode & 0o777, 0o600)
    })
  )

  const root = process.getuid?.() === 0
  it.live.skipIf(!root)("runs for root in a home that is closed to others", () =>
    Effect.gen(function* () {
      const home = yield* folderIn(homedir())
      execFileSync("chmod", ["700", home])
      const folder = join(home, "data")
      mkdirSync(folder)
      process.env["PARLEY_SECRET_KEY"] = "canary of the environment"
      const status = yield* Effect.scoped(
        Effect.map(runPostgres(folder), ({ pid }) => {
          assert.notInclude(readFileSync(`/proc/${pid}/environ`, "utf8"), "canary of the environment")
          return readFileSync(`/proc/${pid}/status`, "utf8")
        })
      )
      delete process.env["PARLEY_SECRET_KEY"]
      assert.notMatch(status, /^Uid:\s+0/m)
      // CAP_DAC_READ_SEARCH alone, and no way to get another.
      for (const set of ["CapPrm", "CapEff", "CapBnd"]) assert.match(status, new RegExp(`^${set}:\\s+0*4$`, "m"))
      assert.match(status, /^NoNewPrivs:\s+1/m)
    })
  )

  it.live("works for the service as the owner of its tables and nothing more, also those of a superuser before", () =>
    Effect.gen(function* () {
      const folder = yield* folderIn(tmpdir())
      yield* Effect.gen(function* () {
        const { url: administrator } = yield* runPostgres(folder)
        yield* as(administrator, (sql) =>
          Effect.andThen(
            sql`CREATE TABLE left_over (id int GENERATED ALWAYS AS IDENTITY, word text)`,
            sql`INSERT INTO left_over (word) VALUES ('kept')`
          )
        )
        for (let start = 0; start < 2; start++) {
          const url = yield* serviceAddress(folder, administrator)
          const rows = yield* as(url, (sql) =>
            Effect.andThen(
              sql.unsafe(`ALTER TABLE left_over ADD COLUMN added${start} int`),
              sql`SELECT word, (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS super FROM left_over`
            )
          )
          assert.deepStrictEqual(rows, [{ word: "kept", super: false }])
          for (const forbidden of [
            "SELECT pg_read_file('/etc/passwd')",
            "COPY left_over TO PROGRAM 'true'",
            "CREATE ROLE other",
            "ALTER SYSTEM SET work_mem = '1GB'"
          ]) {
            assert.strictEqual((yield* Effect.exit(as(url, (sql) => sql.unsafe(forbidden))))._tag, "Failure", forbidden)
          }
        }
        assert.strictEqual(statSync(join(folder, "database-password")).mode & 0o777, 0o600)
      }).pipe(Effect.scoped)
    })
  )
})
