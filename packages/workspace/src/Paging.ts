// Pages of a list that is sorted newest first by a number. A cursor names the last row shown; it is opaque to
// callers, and one that is not ours is 400.
import { BadRequest } from "@parley/contract/Errors"
import { defaultPageSize, maxOffset, type Page, type PageRequest } from "@parley/contract/Page"
import { Effect } from "effect"

export interface Window {
  /** One more than the page shows, to know whether there is more. */
  readonly limit: number
  readonly offset: number
  /** The sort key of the last row shown before, as digits. */
  readonly after: string | undefined
  readonly counted: boolean
}

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

const makeCursor = (key: bigint | number): string => Buffer.from(`after ${key}`).toString("base64url")

const parseCursor = (cursor: string): string | undefined =>
  /^after (\d{1,18})$/.exec(Buffer.from(cursor, "base64url").toString("latin1"))?.[1]

export const likePattern = (search: string): string =>
  `%${search
    .replaceAll("\0", "")
    .toWellFormed()
    .replace(/[\\%_]/g, "\\$&")}%`
