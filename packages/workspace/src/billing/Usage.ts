// What a workspace used, read back from the ledger's entries.
import type { BadRequest } from "@parley/contract/Errors"
import type { Page } from "@parley/contract/Page"
import type { UsageDays, UsageEntry, UsageQuery } from "@parley/contract/Usage"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { decimalOf } from "./Money.ts"
import { readPage } from "../storage/Paging.ts"
import { Database } from "../storage/Database.ts"

export class Usage extends Context.Service<
  Usage,
  {
    /** Newest first. */
    readonly list: (workspaceId: string, query: UsageQuery) => Effect.Effect<Page<UsageEntry>, BadRequest>
    /** Summed by day, kind and model over so many days, today included. */
    readonly byDay: (workspaceId: string, days: number) => Effect.Effect<UsageDays>
  }
>()("@parley/workspace/Usage") {
  static readonly layer: Layer.Layer<Usage, never, Database | SqlClient.SqlClient> = Layer.effect(
    Usage,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      return {
        list: Effect.fn("Usage.list")(function* (workspaceId, query) {
          const conditions = [sql`workspace_id = ${workspaceId}`]
          if (query.kind !== undefined) conditions.push(sql`kind = ${query.kind}`)
          if (query.created_after !== undefined) conditions.push(sql`created_at >= ${new Date(query.created_after)}`)
          if (query.created_before !== undefined) conditions.push(sql`created_at < ${new Date(query.created_before)}`)
          return yield* readPage(sql, query, { from: "usage_entries", where: conditions, show })
        }),

        byDay: Effect.fn("Usage.byDay")(function* (workspaceId, days) {
          const rows =
            yield* sql<DayRow>`SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, kind, model,
              sum(quantity)::bigint AS quantity, sum(cost_nano)::bigint AS cost_nano, count(*)::int AS entries
            FROM usage_entries WHERE workspace_id = ${workspaceId}
              AND created_at >= (date_trunc('day', now() AT TIME ZONE 'UTC') - make_interval(days => ${days - 1}::int))
                AT TIME ZONE 'UTC'
            GROUP BY 1, 2, 3 ORDER BY 1 DESC, 2, 3`.pipe(Effect.orDie)
          return {
            days: rows.map(({ cost_nano, day, entries, kind, model, quantity }) => ({
              day,
              kind,
              model,
              quantity: Number(quantity),
              cost: decimalOf(BigInt(cost_nano)),
              entries
            })),
            cost: decimalOf(rows.reduce((sum, row) => sum + BigInt(row.cost_nano), 0n))
          }
        })
      }
    })
  )
}

interface UsageRow {
  readonly seq: bigint
  readonly kind: string
  readonly model: string
  readonly quantity: bigint
  readonly cost_nano: bigint
  readonly created_at: Date
}

interface DayRow extends Omit<UsageRow, "seq" | "created_at"> {
  readonly day: string
  readonly entries: number
}

const show = (row: UsageRow): UsageEntry => ({
  usage_id: `usage_${row.seq}`,
  kind: row.kind,
  model: row.model,
  quantity: Number(row.quantity),
  cost: decimalOf(BigInt(row.cost_nano)),
  created_at: row.created_at.toISOString()
})
