// The look-up that every kind of record has: by workspace and id. A record of another workspace is as missing as one
// that never was, and this is the only place where that becomes `NotFound`.
import { type NotFound, notFound } from "@parley/contract/Errors"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { ReadRows } from "./rows.ts"

/** `update`: nobody else changes the row before the transaction ends. `members`: the row stays, for who counts what it has. */
export type RowLock = "update" | "members"

/** A table with the columns `id` and `workspace_id`; in fragments it is called `t`. */
export interface RecordTable<A> {
  readonly table: string
  /** What the record is called in the message of `NotFound`: `Agent`. */
  readonly noun: string
  readonly read: ReadRows<A>
  /** `t.*` unless told. */
  readonly columns?: Statement.Fragment
  /** What else must hold, for example that the record was not deleted. */
  readonly where?: Statement.Fragment
}

/** Fails with NotFound for a record that is missing, foreign or ruled out by `where`. */
export type FindRecord<A> = (workspace: string, id: string, lock?: RowLock) => Effect.Effect<A, NotFound>

/** The look-up for one kind of record. */
export const finder = <A>(
  sql: SqlClient.SqlClient,
  { columns = sql`t.*`, noun, read, table, where }: RecordTable<A>
): FindRecord<A> => {
  const more = where === undefined ? sql`` : sql` AND ${where}`
  const locks = { update: sql`FOR UPDATE OF t`, members: sql`FOR NO KEY UPDATE OF t` }
  return Effect.fnUntraced(function* (workspace, id, lock) {
    const rows = yield* read(sql`SELECT ${columns} FROM ${sql(table)} t
      WHERE t.id = ${id} AND t.workspace_id = ${workspace}${more} ${lock === undefined ? sql`` : locks[lock]}`).pipe(
      Effect.orDie
    )
    return rows[0] ?? (yield* notFound(noun))
  })
}
