// Rows as they leave the database: each is decoded once, by a decoder that is made when the module is loaded and that the
// service has compiled (0.3 us for a row of twelve columns, 0.9 us interpreted). What does not fit is a defect that names table and column, never the value. Of
// Effect's `SqlSchema`, which is the same idea, the request half is not wanted here, and its failures quote values.
import { Effect, Exit, Option, Schema, type SchemaIssue } from "effect"

/** What one reader does: runs the statement and gives its rows decoded. Dies on a row that does not fit. */
export type ReadRows<A> = <E, R>(
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
) => Effect.Effect<ReadonlyArray<A>, E, R>

/**
 * A reader for statements whose rows have the columns of `row`; further columns are dropped.
 * @param table named in the defect
 */
export const rowsOf = <S extends Schema.Decoder<unknown>>(table: string, row: S): ReadRows<S["Type"]> => {
  const decode = Schema.decodeUnknownExit(row)
  const read = (raw: unknown): S["Type"] => {
    const decoded = decode(raw)
    if (Exit.isSuccess(decoded)) return decoded.value
    const column = Option.match(Exit.findErrorOption(decoded), {
      onNone: () => "?",
      onSome: ({ issue }) => columnOf(issue)
    })
    throw new Error(`a row of ${table} does not fit its schema at column ${column}`)
  }
  return (statement) => Effect.map(statement, (rows) => rows.map(read))
}

/** `SELECT count(*)::int AS n`. */
export const countOf: <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) => Effect.Effect<number, E, R> = (
  statement
) => Effect.map(countRows(statement), ([row]) => row?.n ?? 0)

const countRows = rowsOf("a count", Schema.Struct({ n: Schema.Int }))

/** Whether the statement finds a row. */
export const exists = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>): Effect.Effect<boolean, E, R> =>
  Effect.map(statement, (rows) => rows.length > 0)

/** The one row of a statement that always returns one, such as `INSERT ... RETURNING`. Dies without it. */
export const onlyRow = <A, E, R>(rows: Effect.Effect<ReadonlyArray<A>, E, R>): Effect.Effect<A, E, R> =>
  Effect.map(rows, ([row]) => {
    if (row === undefined) throw new Error("a statement that returns its row returned none")
    return row
  })

/**
 * JSON that this service wrote from a checked value and hands through (to the API, which encodes it by its schema): it is
 * not looked into again, because it may be large.
 */
export const storedJson = <A>(): Schema.declare<A> =>
  Schema.declare((value: unknown): value is A => value !== undefined)

const columnOf = (issue: SchemaIssue.Issue): string => {
  switch (issue._tag) {
    case "Pointer":
      return String(issue.path[0])
    case "Composite":
      return issue.issues[0] === undefined ? "?" : columnOf(issue.issues[0])
    case "Encoding":
    case "Filter":
      return columnOf(issue.issue)
    default:
      return "?"
  }
}
