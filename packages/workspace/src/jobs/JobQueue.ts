// One queue of work over a table that keeps the work's own state. A claim is a lease: `claimed_until` says how long it
// holds, a worker that lives extends it, and what a dead one had claimed is claimed again when it ends (at once at the
// start of a process that has the database to itself). Each job is claimed by one worker at a time (FOR UPDATE SKIP
// LOCKED), and what comes of it is stored by a statement of its owner that requires the job to be open still, so it
// counts once. Effect's own `PersistedQueue` delivers a quarter as many jobs a second, keeps no order within a key, and
// would need a table beside these.
import { Effect, Latch } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Database } from "../storage/Database.ts"
import type { ReadRows } from "../storage/rows.ts"

/** The values of a table's key columns, in their order. */
export type JobKey = ReadonlyArray<string | number>

/** A table of jobs: it has the columns `due_at` and `claimed_until`. In fragments it is called `t`. */
export interface JobTable<Job> {
  readonly table: string
  /** Columns that name a row. */
  readonly key: ReadonlyArray<string>
  /** Which rows still want work. */
  readonly open: Statement.Fragment
  /** What else must hold for a job to be claimed now: order within a key, or a bound of what runs at once. */
  readonly ready?: Statement.Fragment
  /** Which go first. */
  readonly order: Statement.Fragment
  /** Further assignments of the claim, for example `attempts = t.attempts + 1`. */
  readonly onClaim?: Statement.Fragment
  readonly leaseSeconds: number
  /** Reads the claimed rows. */
  readonly read: ReadRows<Job>
  /** Claims are made one after another over all processes, by the lock of this name: for a `ready` that counts claims. */
  readonly oneByOne?: string
}

/** The queue over such a table. */
export interface JobQueue<Job> {
  /** Due jobs, at most so many (one, if `oneByOne`), each for whoever asked first. */
  readonly claim: (most: number) => Effect.Effect<ReadonlyArray<Job>>
  /** The leases of these jobs begin anew, where the jobs are claimed still. */
  readonly extend: (keys: ReadonlyArray<JobKey>) => Effect.Effect<void>
  /** Not yet: the job is free again, and due in `waitMs`. */
  readonly later: (key: JobKey, waitMs: number) => Effect.Effect<void>
  readonly leaseSeconds: number
  /** Opened when there may be a job: whoever works need not wait for its next look. */
  readonly wakeUp: Latch.Latch
}

/** Frees what a process before this one had claimed, if nobody else can be at work. */
export const make = Effect.fnUntraced(function* <Job>(
  table: JobTable<Job>
): Effect.fn.Return<JobQueue<Job>, never, Database | SqlClient.SqlClient> {
  const { alone } = yield* Database
  const sql = yield* SqlClient.SqlClient
  const wakeUp = yield* Latch.make()
  const { leaseSeconds, oneByOne, open, order, read } = table
  const name = sql(table.table)
  const columns = sql.csv(table.key.map((column) => sql`t.${sql(column)}`))
  const lease = sql`now() + make_interval(secs => ${leaseSeconds})`
  const ready = table.ready === undefined ? sql`` : sql`AND ${table.ready}`
  const onClaim = table.onClaim === undefined ? sql`` : sql`, ${table.onClaim}`
  const named = (key: JobKey) => sql.and(table.key.map((column, at) => sql`t.${sql(column)} = ${key[at] ?? null}`))

  const take = (most: number) =>
    read(sql`UPDATE ${name} t SET claimed_until = ${lease}${onClaim}
      WHERE (${columns}) IN (SELECT ${columns} FROM ${name} t
        WHERE ${open} AND t.due_at <= now() AND coalesce(t.claimed_until, '-infinity') <= now() ${ready}
        ORDER BY ${order} LIMIT ${most} FOR UPDATE SKIP LOCKED)
      RETURNING t.*`)

  if (alone) {
    yield* sql`UPDATE ${name} t SET claimed_until = NULL WHERE ${open} AND t.claimed_until IS NOT NULL`.pipe(
      Effect.orDie
    )
  }
  return {
    wakeUp,
    leaseSeconds,
    claim: (most) =>
      oneByOne === undefined
        ? Effect.orDie(take(most))
        : sql`SELECT pg_advisory_xact_lock(hashtext(${oneByOne}))`.pipe(
            Effect.andThen(take(1)),
            sql.withTransaction,
            Effect.orDie
          ),
    extend: (keys) =>
      keys.length === 0
        ? Effect.void
        : sql`UPDATE ${name} t SET claimed_until = ${lease}
            WHERE ${open} AND t.claimed_until IS NOT NULL AND ${sql.or(keys.map(named))}`.pipe(
            Effect.orDie,
            Effect.asVoid
          ),
    later: (key, waitMs) =>
      sql`UPDATE ${name} t SET claimed_until = NULL, due_at = now() + make_interval(secs => ${waitMs / 1000}::float8)
        WHERE ${open} AND ${named(key)}`.pipe(Effect.orDie, Effect.asVoid)
  }
})
