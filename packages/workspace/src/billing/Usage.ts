// What a workspace used, read back from the billing entries.
import type { BadRequest } from "@parley/contract/Errors"
import type { Page } from "@parley/contract/Page"
import type { UsageDays, UsageEntry, UsageQuery } from "@parley/contract/Usage"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decimalOf } from "./Money.ts"
import { readPage } from "../storage/Paging.ts"
import { rowsOf } from "../storage/rows.ts"
import { Database } from "../storage/Database.ts"

/** What a workspace used, by entry and by day. */
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
          return yield* readPage(sql, query, { from: "usage_entries", read: usageRows, where: conditions, show })
        }),

        byDay: Effect.fn("Usage.byDay")(function* (workspaceId, days) {
          const rows =
            yield* dayRows(sql`SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, kind, model,
              sum(quantity)::bigint AS quantity, sum(cost_nano)::bigint AS cost_nano, count(*)::int AS entries
            FROM usage_entries WHERE workspace_id = ${workspaceId}
              AND created_at >= (date_trunc('day', now() AT TIME ZONE 'UTC') - make_interval(days => ${days - 1}::int))
                AT TIME ZONE 'UTC'
            GROUP BY 1, 2, 3 ORDER BY 1 DESC, 2, 3`).pipe(Effect.orDie)
          return {
            days: rows.map(({ cost_nano, day, entries, kind, model, quantity }) => ({
              day,
              kind,
              model,
              quantity: Number(quantity),
              cost: decimalOf(cost_nano),
              entries
            })),
            cost: decimalOf(rows.reduce((sum, row) => sum + row.cost_nano, 0n))
          }
        })
      }
    })
  )
}

const UsageRow = Schema.Struct({
  seq: Schema.BigInt,
  kind: Schema.String,
  model: Schema.String,
  quantity: Schema.BigInt,
  cost_nano: Schema.BigInt,
  created_at: Schema.Date
})
const usageRows = rowsOf("usage_entries", UsageRow)

const { cost_nano, kind, model, quantity } = UsageRow.fields
const DayRow = Schema.Struct({ day: Schema.String, kind, model, quantity, cost_nano, entries: Schema.Int })
const dayRows = rowsOf("usage_entries", DayRow)

const show = (row: typeof UsageRow.Type): UsageEntry => ({
  usage_id: `usage_${row.seq}`,
  kind: row.kind,
  model: row.model,
  quantity: Number(row.quantity),
  cost: decimalOf(row.cost_nano),
  created_at: row.created_at.toISOString()
})
