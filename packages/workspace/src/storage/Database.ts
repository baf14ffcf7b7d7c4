// The one way to PostgreSQL: DATABASE_URL, or the embedded server when it is unset. Migrated and proven to answer
// before anything else starts; what is wrong is said in one line.
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, type Redacted } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { existsSync, mkdirSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { runningServiceAddress, serviceAddress } from "./DatabaseRole.ts"
import { isFolderHeld, lockFolder } from "./FolderLock.ts"
import { findPostgres, runPostgres } from "./EmbeddedPostgres.ts"
import { migrations } from "./migrations.ts"
import { StartFault } from "./StartFault.ts"

/** Where everything is kept. */
export interface StorageSettings {
  /** The data folder; made when missing. */
  readonly data: string
  /** Unset: the embedded server. */
  readonly databaseUrl: Redacted.Redacted<string> | undefined
}

/** The data folder, held by this process alone. */
export class DataFolder extends Context.Service<DataFolder, { readonly path: string }>()(
  "@parley/workspace/DataFolder"
) {
  /** For commands beside the service, which holds it. */
  static readonly beside = (settings: StorageSettings): Layer.Layer<DataFolder> =>
    Layer.sync(DataFolder, () => ({ path: resolve(settings.data) }))

  static readonly layer = (settings: StorageSettings): Layer.Layer<DataFolder, StartFault> =>
    Layer.effect(
      DataFolder,
      Effect.gen(function* () {
        const path = yield* openFolder(settings.data)
        yield* lockFolder(path)
        return { path }
      })
    )
}

/** Whether no other process can be using this database. */
export class Database extends Context.Service<Database, { readonly alone: boolean }>()("@parley/workspace/Database") {}

/** For the service: migrated. */
export const layer = (
  settings: StorageSettings
): Layer.Layer<Database | PgClient.PgClient | SqlClient.SqlClient, StartFault, DataFolder> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const folder = yield* DataFolder
      if (settings.databaseUrl !== undefined) return serving(settings.databaseUrl, "DATABASE_URL", false)
      const running = yield* runPostgres(folder.path)
      const url = yield* serviceAddress(folder.path, running.url)
      return serving(url, "the embedded PostgreSQL", true)
    })
  )

/** For commands beside the service: uses the service's own server while it runs, starts it for a moment otherwise. */
export const layerBeside = (
  settings: StorageSettings
): Layer.Layer<Database | PgClient.PgClient | SqlClient.SqlClient, StartFault> =>
  Layer.unwrap(
    Effect.gen(function* () {
      if (settings.databaseUrl !== undefined) return serving(settings.databaseUrl, "DATABASE_URL", false)
      const path = yield* openFolder(settings.data)
      const found = isFolderHeld(path) ? findPostgres(path) : undefined
      if (found !== undefined) return serving(runningServiceAddress(path, found), "the embedded PostgreSQL", false)
      return layer(settings).pipe(Layer.provide(DataFolder.layer(settings)))
    })
  )

const openFolder = (data: string): Effect.Effect<string, StartFault> =>
  Effect.try({
    try: () => {
      const path = resolve(data)
      makeFolder(path)
      return path
    },
    catch: (error) =>
      new StartFault({
        message: `PARLEY_DATA: cannot make the folder ${data} (${(error as NodeJS.ErrnoException).code})`
      })
  })

/**
 * With its parents, one by one: the recursive form of mkdir never returns below a folder that takes none, as /proc.
 * PostgreSQL may run as another user, who passes through but cannot look around.
 */
const makeFolder = (path: string): void => {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  mkdirSync(path, { mode: 0o711 })
}

const serving = (url: Redacted.Redacted<string>, name: string, alone: boolean) =>
  Layer.effect(
    Database,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`SELECT 1`.pipe(
        Effect.timeout("10 seconds"),
        Effect.mapError((error) => new StartFault({ message: `Cannot use ${name}: ${reasonOf(error)}` }))
      )
      yield* migrate.pipe(
        Effect.mapError((error) => new StartFault({ message: `Cannot migrate ${name}: ${reasonOf(error)}` }))
      )
      return { alone }
    })
  ).pipe(
    Layer.provideMerge(
      PgClient.layerFrom(
        PgClient.make({ url, maxConnections: 10, applicationName: "parley", connectTimeout: "8 seconds" }).pipe(
          Effect.mapError((error) => new StartFault({ message: `Cannot use ${name}: ${reasonOf(error)}` }))
        )
      )
    )
  )

const migrate = Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: "parley_migrations" })

/** The driver's own words for it, without query or address. */
const reasonOf = (error: unknown): string => {
  for (let cause = error; typeof cause === "object" && cause !== null;) {
    if ("cause" in cause && cause.cause !== undefined) {
      cause = cause.cause as unknown
      continue
    }
    if ("reason" in cause && typeof cause.reason === "object" && cause.reason !== null) {
      cause = cause.reason as unknown
      continue
    }
    return "message" in cause && typeof cause.message === "string" && cause.message !== "" ? cause.message : "no answer"
  }
  return "no answer"
}
