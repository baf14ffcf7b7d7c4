// How every list is paged: by opaque cursor, or by 1-based page, never both.
// Offsets past 100,000 rows are refused. `total` is null on the cursor path unless asked for.
import { Schema } from "effect"

/** A whole number in a query. */
export const wholeText = Schema.NumberFromString.check(Schema.isInt({ message: "must be a whole number" }))

const trueOrFalse = Schema.Literals(["true", "false"])

/** `true` or `false` in a query. */
export const queryBoolean = Schema.optionalKey(trueOrFalse)

/** How a page is asked for. */
export const PageQuery = {
  cursor: Schema.optionalKey(Schema.String),
  page: Schema.optionalKey(wholeText.check(Schema.isGreaterThanOrEqualTo(1, { message: "must be at least 1" }))),
  include_total: queryBoolean,
  page_size: Schema.optionalKey(
    wholeText.check(Schema.isBetween({ minimum: 1, maximum: 100 }, { message: "must be between 1 and 100" }))
  )
}

/** What a list is asked for, as the storage understands it. */
export interface PageRequest {
  readonly cursor?: string
  readonly page?: number
  readonly include_total?: "true" | "false"
  readonly page_size?: number
}

/** Rows of a page that names no size. */
export const defaultPageSize = 30
/** Rows that may be skipped by page number. */
export const maxOffset = 100_000

/** What every page has beside its rows. */
export const pageFields = {
  has_more: Schema.Boolean,
  next_cursor: Schema.NullOr(Schema.String),
  total: Schema.NullOr(Schema.Int)
}

/** Rows with how to go on. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly total: number | null
}
