// Paths and queries of requests, encoded.

/** Undefined values are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** A path with values in it. */
export const path = (parts: TemplateStringsArray, ...values: ReadonlyArray<string>): string =>
  String.raw({ raw: parts }, ...values.map(encodeURIComponent))

/** With its question mark; empty when nothing is given. */
export const search = (query: Query): string => {
  const given = Object.entries(query).flatMap(([key, value]): ReadonlyArray<[string, string]> =>
    value === undefined ? [] : [[key, String(value)]]
  )
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`
}
