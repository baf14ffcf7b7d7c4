// What work costs: one table in the database, which an operator may change at any time. A price is an amount for so
// many pieces of work; `tts:MODEL` goes before `tts`. Seeded by migration 0002.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decimalOf, type Nano } from "./Money.ts"
import { Database } from "../storage/Database.ts"
import { rowsOf } from "../storage/rows.ts"

/** An amount for so many pieces of work. */
export interface Price {
  /** `tts`, `asr`, `agent`, ...; with `:MODEL` for one model only. */
  readonly name: string
  readonly amount: Nano
  /** For how many pieces of work the amount is. */
  readonly per: bigint
  /** `byte`, `second`, `request` or `month`. */
  readonly piece: string
}

/** The table of prices, for all workspaces. */
export class Prices extends Context.Service<
  Prices,
  {
    readonly list: Effect.Effect<ReadonlyArray<Price>>
    /** A model's own price is measured like its kind's. Undefined when there is no such price. */
    readonly set: (name: string, amount: Nano) => Effect.Effect<Price | undefined>
  }
>()("@parley/workspace/Prices") {
  static readonly layer: Layer.Layer<Prices, never, Database | SqlClient.SqlClient> = Layer.effect(
    Prices,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      return {
        list: priceRows(sql`SELECT * FROM prices ORDER BY name`).pipe(
          Effect.map((rows) => rows.map(showPrice)),
          Effect.orDie
        ),
        set: Effect.fn("Prices.set")(function* (name, amount) {
          const rows = yield* priceRows(sql`INSERT INTO prices (name, amount_nano, per, piece)
            SELECT ${name}, ${String(amount)}::bigint, per, piece FROM prices WHERE name = ${kindOf(name)}
            ON CONFLICT (name) DO UPDATE SET amount_nano = EXCLUDED.amount_nano RETURNING *`)
          const row = rows[0]
          return row === undefined ? undefined : showPrice(row)
        }, Effect.orDie)
      }
    })
  )
}

/** `15 per 1000000 bytes`. */
export const formatPrice = ({ amount, per, piece }: Price): string =>
  `${decimalOf(amount)} per ${per === 1n ? piece : `${per} ${piece}s`}`

const PriceRow = Schema.Struct({
  name: Schema.String,
  amount_nano: Schema.BigInt,
  per: Schema.BigInt,
  piece: Schema.String
})
type PriceRow = typeof PriceRow.Type

const showPrice = (row: PriceRow): Price => ({
  name: row.name,
  amount: row.amount_nano,
  per: row.per,
  piece: row.piece
})

const kindOf = (name: string): string => name.split(":", 1)[0] ?? name

const priceRows = rowsOf("prices", PriceRow)
