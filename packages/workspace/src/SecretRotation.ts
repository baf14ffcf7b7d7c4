// After a change of the master key: everything that a former key sealed is sealed again, in the background, while the service
// runs. Safe to break off and to run beside another process: a value is replaced only where it still is what was read. The
// log says how many were done and how many are left; the proof of the key comes last, so that a start without the former key
// is refused until nothing needs it.
import { Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { exists, rowsOf } from "./storage/rows.ts"
import { Secrets } from "./storage/Secrets.ts"

/** A column with sealed values, alone or within JSON; `key` says which row. */
interface SealedColumn {
  readonly table: string
  readonly key: string
  readonly column: string
  readonly type: "jsonb" | "text"
}

const jsonColumns: ReadonlyArray<readonly [table: string, key: string, columns: ReadonlyArray<string>]> = [
  ["tools", "id", ["definition"]],
  ["mcp_servers", "id", ["definition"]],
  ["agents", "id", ["draft"]],
  ["agent_versions", "(agent_id || '/' || version_number)", ["config", "tools", "mcp_servers"]],
  ["test_batches", "id", ["config", "tools"]],
  ["sessions", "id", ["config"]],
  ["phone_numbers", "id", ["trunk"]],
  ["number_inventory", "phone_number", ["trunk"]]
]

const sealedColumns: ReadonlyArray<SealedColumn> = [
  ...jsonColumns.flatMap(([table, key, columns]) =>
    columns.map((column): SealedColumn => ({ table, key, column, type: "jsonb" }))
  ),
  { table: "webhook_deliveries", key: "id", column: "secret", type: "text" }
]

const proof: SealedColumn = { table: "settings", key: "name", column: "value", type: "text" }

/** Rows that are looked at together. */
const batchSize = 200

/** Values that were sealed again, and those that changed meanwhile and have to be looked at once more. */
interface Progress {
  readonly renewed: number
  readonly left: number
}

/** One pass over every column. The proof has its turn when nothing else needed the former key. */
const renewAll: Effect.Effect<Progress, never, SqlClient.SqlClient | Secrets> = Effect.gen(function* () {
  let [renewed, left] = [0, 0]
  for (const column of sealedColumns) {
    const done = yield* renewColumn(column)
    renewed += done.renewed
    left += done.left
  }
  if (renewed + left === 0) yield* renewColumn(proof)
  return { renewed, left }
})

const renewColumn = Effect.fnUntraced(function* ({ column, key, table, type }: SealedColumn) {
  const sql = yield* SqlClient.SqlClient
  const { renew } = yield* Secrets
  const [at, value] = [sql.literal(key), sql(column)]
  const typed = (text: string): Statement.Fragment => (type === "jsonb" ? sql`${text}::jsonb` : sql`${text}`)
  let [renewed, left, after] = [0, 0, ""]
  for (;;) {
    const rows = yield* sealedRows(sql`SELECT ${at} AS key, ${value}::text AS text FROM ${sql(table)}
      WHERE ${at} > ${after} AND ${value}::text LIKE '%v1.%' ORDER BY ${at} LIMIT ${batchSize}`).pipe(Effect.orDie)
    for (const row of rows) {
      const { count, text } = renewedText(row.text, renew)
      if (count === 0) continue
      const isDone = yield* exists(sql`UPDATE ${sql(table)} SET ${value} = ${typed(text)}
        WHERE ${at} = ${row.key} AND ${value} = ${typed(row.text)} RETURNING 1`).pipe(Effect.orDie)
      if (isDone) renewed += count
      else left += count
    }
    const last = rows.at(-1)
    if (last === undefined) return { renewed, left }
    after = last.key
  }
})

const sealedRows = rowsOf("a table with secrets", Schema.Struct({ key: Schema.String, text: Schema.String }))

/** Nothing else in a text opens with a former key: a sealed value is authenticated. */
const renewedText = (text: string, renew: (sealed: string) => string | undefined) => {
  let count = 0
  const replaced = text.replaceAll(/v1\.[A-Za-z0-9_-]{38,}/g, (sealed) => {
    const again = renew(sealed)
    if (again === undefined) return sealed
    count += 1
    return again
  })
  return { count, text: replaced }
}

/**
 * Runs beside the service until a pass finds nothing more, so that a change that was read before and stored after it counts,
 * too. Does nothing without a former key.
 */
export const layer: Layer.Layer<never, never, SqlClient.SqlClient | Secrets> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { isRotating } = yield* Secrets
    if (!isRotating) return
    yield* renewAll.pipe(
      Effect.tap(({ left, renewed }) =>
        Effect.logInfo(
          renewed + left === 0
            ? "Secrets of a former key: none left; PARLEY_SECRET_KEY_OLD can be removed"
            : `Secrets of a former key: ${renewed} sealed again, ${left} left; looking once more`
        )
      ),
      Effect.repeat({ schedule: Schedule.spaced("2 seconds"), while: ({ left, renewed }) => renewed + left > 0 }),
      Effect.tapCause((cause) => Effect.logError("Secrets could not all be sealed again", cause)),
      Effect.sandbox,
      Effect.retry(Schedule.spaced("1 minute")),
      Effect.forkScoped
    )
  })
)
