// Pages of a list that is sorted newest first by a number. A cursor names the last row shown; it is opaque to
// callers, and one that is not ours is 400.
import { BadRequest } from "@parley/contract/Errors"
import { defaultPageSize, maxOffset, type Page, type PageRequest } from "@parley/contract/Page"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { countOf, type ReadRows } from "./rows.ts"

/** A page as it is to be read. */
export interface Window {
  /** One more than the page shows, to know whether there is more. */
  readonly limit: number
  readonly offset: number
  /** The sort key of the last row shown before, as digits. */
  readonly after: string | undefined
  readonly counted: boolean
}

/** Fails for a page together with a cursor, a page too deep, and a cursor that is not ours. */
export const openWindow = (request: PageRequest): Effect.Effect<Window, BadRequest> =>
  Effect.gen(function* () {
    if (request.page !== undefined && request.cursor !== undefined) {
      return yield* new BadRequest({ message: "page and cursor cannot be used together" })
    }
    const size = request.page_size ?? defaultPageSize
    const offset = request.page === undefined ? 0 : (request.page - 1) * size
    if (offset > maxOffset) return yield* new BadRequest({ message: "page is too deep; use cursor" })
    const after = request.cursor === undefined ? undefined : parseCursor(request.cursor)
    if (request.cursor !== undefined && after === undefined) {
      return yield* new BadRequest({ message: "cursor is not valid" })
    }
    return { limit: size + 1, offset, after, counted: request.page !== undefined || request.include_total === "true" }
  })

/** The page, of rows that were read with the window's limit. @param keyOf the sort key, for the next cursor */
export const closeWindow = <Row, A>(
  window: Window,
  rows: ReadonlyArray<Row>,
  total: number | null,
  keyOf: (row: Row) => bigint | number,
  show: (row: Row) => A
): Page<A> => {
  const shown = rows.slice(0, window.limit - 1)
  const last = shown.at(-1)
  const more = rows.length === window.limit
  return {
    items: shown.map(show),
    has_more: more,
    next_cursor: more && last !== undefined ? makeCursor(keyOf(last)) : null,
    total
  }
}

/** What a list is read from. */
export interface Listing<Row, A> {
  readonly from: string
  readonly read: ReadRows<Row>
  /** What the table is called in the conditions; `t` unless told. */
  readonly as?: string
  /** Further columns. */
  readonly beside?: Statement.Fragment
  /** All hold; at least one. */
  readonly where: ReadonlyArray<Statement.Fragment>
  readonly show: (row: Row) => A
}

/** How many rows there are on all pages, where that was asked for; null otherwise. */
export const countWhen = (
  window: Window,
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<number | null> => (window.counted ? Effect.orDie(countOf(statement)) : Effect.succeed(null))

/** One page of a table that grows by `seq`, the newest first. */
export const readPage = Effect.fnUntraced(function* <Row extends { readonly seq: bigint }, A>(
  sql: SqlClient.SqlClient,
  request: PageRequest,
  { as = "t", beside, from, read, show, where }: Listing<Row, A>
): Effect.fn.Return<Page<A>, BadRequest> {
  const window = yield* openWindow(request)
  const [table, name] = [sql(from), sql(as)]
  const filter = sql.and(where)
  const keyset = window.after ? sql`AND ${name}.seq < ${window.after}::bigint` : sql``
  const more = beside === undefined ? sql`` : sql`, ${beside}`
  const rows = yield* read(sql`SELECT ${name}.*${more} FROM ${table} ${name} WHERE ${filter} ${keyset}
    ORDER BY ${name}.seq DESC LIMIT ${window.limit} OFFSET ${window.offset}`).pipe(Effect.orDie)
  const total = yield* countWhen(window, sql`SELECT count(*)::int AS n FROM ${table} ${name} WHERE ${filter}`)
  return closeWindow(window, rows, total, (row) => row.seq, show)
})

const makeCursor = (key: bigint | number): string => Buffer.from(`after ${key}`).toString("base64url")

const parseCursor = (cursor: string): string | undefined =>
  /^after (\d{1,18})$/.exec(Buffer.from(cursor, "base64url").toString("latin1"))?.[1]

/** A text that is somewhere in the column, for ILIKE: what the caller wrote has no wildcards. */
export const likePattern = (search: string): string =>
  `%${search
    .replaceAll("\0", "")
    .toWellFormed()
    .replace(/[\\%_]/g, "\\$&")}%`
