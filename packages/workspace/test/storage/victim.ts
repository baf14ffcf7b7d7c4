// A process that holds a data folder: writes one row, prints its postmaster's id, then waits to be stopped.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Layer } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DataFolder, layer as database } from "../../src/storage/Database.ts"

const folder = process.argv[2] ?? ""
const settings = { data: folder, databaseUrl: undefined }

const fiber = Effect.runFork(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO settings (name, value) VALUES ('left', 'behind')`
    console.log(Number(readFileSync(join(folder, "postgres", "postmaster.pid"), "utf8").split("\n")[0]))
    yield* Effect.sleep("30 seconds")
  }).pipe(Effect.provide(Layer.provideMerge(database(settings), DataFolder.layer(settings))))
)
process.on("SIGTERM", () => fiber.interruptUnsafe())
