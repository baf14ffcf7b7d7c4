// Seals again what a former master key sealed, and what an earlier release sealed without its owner, in the background while
// the service runs. Safe to break off and to run beside another process: a value is replaced only where it still is what was
// read. The log says how many were done and how many are left; the proof of the key comes last, so that a start without the
// former key is refused until nothing needs it.
import { Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { exists, rowsOf } from "./storage/rows.ts"
import { type SecretOwner, secretOwner } from "./storage/SecretOwner.ts"
import { allBound, isUnbound, secretProof, Secrets } from "./storage/Secrets.ts"

/** Whose the values of a column are: one record's, or those of the list in it, each by its own id. */
type Owners =
  | { readonly of: (id: string) => SecretOwner; readonly id: string }
  | { readonly of: (id: string) => SecretOwner; readonly each: string }

/** A column with sealed values, alone or within JSON; `key` says which row. */
interface SealedColumn {
  readonly table: string
  readonly key: string
  readonly column: string
  readonly type: "jsonb" | "text"
  readonly owners: Owners
}

const agent: Owners = { of: secretOwner.agent, id: "agent_id" }
const tools: Owners = { of: secretOwner.tool, each: "tool_id" }
const servers: Owners = { of: secretOwner.mcpServer, each: "mcp_server_id" }

const json = (table: string, column: string, owners: Owners, key = "id"): SealedColumn => ({
  table,
  key,
  column,
  type: "jsonb",
  owners
})
const version = "(agent_id || '/' || version_number)"

const sealedColumns: ReadonlyArray<SealedColumn> = [
  json("tools", "definition", { of: secretOwner.tool, id: "id" }),
  json("mcp_servers", "definition", { of: secretOwner.mcpServer, id: "id" }),
  json("agents", "draft", { of: secretOwner.agent, id: "id" }),
  json("agent_versions", "config", agent, version),
  json("agent_versions", "tools", tools, version),
  json("agent_versions", "mcp_servers", servers, version),
  json("test_batches", "config", agent),
  json("test_batches", "tools", tools),
  json("sessions", "config", agent),
  json("phone_numbers", "trunk", { of: secretOwner.number, id: "id" }),
  json("number_inventory", "trunk", { of: secretOwner.stockedNumber, id: "phone_number" }, "phone_number"),
  {
    table: "webhook_deliveries",
    key: "id",
    column: "secret",
    type: "text",
    owners: { of: secretOwner.delivery, id: "id" }
  }
]

const proof: SealedColumn = {
  table: "settings",
  key: "name",
  column: "value",
  type: "text",
  owners: { of: () => secretProof, id: "name" }
}

/** Rows that are looked at together. */
const batchSize = 200

/** Values that were sealed again, and those that changed meanwhile and have to be looked at once more. */
interface Progress {
  readonly renewed: number
  readonly left: number
}

/** One pass over every column. The proof has its turn when nothing else needed to be sealed again. */
const renewAll: Effect.Effect<Progress, never, SqlClient.SqlClient | Secrets> = Effect.gen(function* () {
  let [renewed, left] = [0, 0]
  for (const column of sealedColumns) {
    const done = yield* renewColumn(column)
    renewed += done.renewed
    left += done.left
  }
  if (renewed + left === 0) {
    yield* renewColumn(proof)
    yield* allBound
  }
  return { renewed, left }
})

const renewColumn = Effect.fnUntraced(function* ({ column, key, owners, table, type }: SealedColumn) {
  const sql = yield* SqlClient.SqlClient
  const { isRotating, renewed: renewText } = yield* Secrets
  const renewOf = (text: string, owner: string) =>
    "id" in owners ? renewText(text, owners.of(owner)) : renewEach(text, owners, renewText)
  const [at, value] = [sql.literal(key), sql(column)]
  const owner = sql.literal("id" in owners ? owners.id : "''")
  const typed = (text: string): Statement.Fragment => (type === "jsonb" ? sql`${text}::jsonb` : sql`${text}`)
  let [renewed, left, after] = [0, 0, ""]
  for (;;) {
    const rows = yield* sealedRows(sql`SELECT ${at} AS key, ${owner} AS owner, ${value}::text AS text FROM ${sql(table)}
      WHERE ${at} > ${after} AND ${value}::text LIKE ${isRotating ? "%v_.%" : "%v1.%"}
      ORDER BY ${at} LIMIT ${batchSize}`).pipe(Effect.orDie)
    for (const row of rows) {
      const { count, text } = renewOf(row.text, row.owner)
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

const sealedRows = rowsOf(
  "a table with secrets",
  Schema.Struct({ key: Schema.String, owner: Schema.String, text: Schema.String })
)

type RenewText = Secrets["Service"]["renewed"]

const renewEach = (text: string, { each, of }: Extract<Owners, { each: string }>, renew: RenewText) => {
  const list = JSON.parse(text) as ReadonlyArray<Readonly<Record<string, unknown>>>
  const done = list.map((one) => renew(JSON.stringify(one), of(String(one[each]))))
  return {
    text: `[${done.map((one) => one.text).join(",")}]`,
    count: done.reduce((sum, { count }) => sum + count, 0)
  }
}

/**
 * Runs beside the service until a pass finds nothing more, so that a change that was read before and stored after it counts,
 * too. Does nothing without a former key once every value has its owner.
 */
export const layer: Layer.Layer<never, never, SqlClient.SqlClient | Secrets> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { isRotating } = yield* Secrets
    if (!isRotating && !(yield* isUnbound)) return
    const told = (line: string) => (isRotating ? Effect.logInfo(line) : Effect.logDebug(line))
    yield* renewAll.pipe(
      Effect.tap(({ left, renewed }) =>
        renewed + left === 0
          ? told("Secrets of a former key: none left; PARLEY_SECRET_KEY_OLD can be removed")
          : Effect.logInfo(`Secrets: ${renewed} sealed again, ${left} left; looking once more`)
      ),
      Effect.repeat({ schedule: Schedule.spaced("2 seconds"), while: ({ left, renewed }) => renewed + left > 0 }),
      Effect.tapCause((cause) => Effect.logError("Secrets could not all be sealed again", cause)),
      Effect.sandbox,
      Effect.retry(Schedule.spaced("1 minute")),
      Effect.forkScoped
    )
  })
)
