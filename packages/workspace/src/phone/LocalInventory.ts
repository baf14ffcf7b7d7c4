// The built-in inventory: a table the operator fills (`parley numbers`), each number with the trunk its calls come from
// and go to. Needs nobody outside, so that numbers are bought, called and released offline.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../storage/Database.ts"
import { Inventory, InventoryFault } from "./Inventory.ts"
import { hasFactor, StoredTrunk } from "./Trunk.ts"
import { rowsOf } from "../storage/rows.ts"

/** A number the operator put on sale. */
export interface StockedNumber {
  readonly phoneNumber: string
  readonly friendlyName: string
  readonly locality: string
  readonly region: string
  /** ISO 3166-1 alpha-2. */
  readonly countryCode: string
  readonly trunk: StoredTrunk
  /** Whether the trunk lets a transferred call show its original caller. */
  readonly originalCaller: boolean
}

/** The operator's side of the built-in inventory. */
export class LocalInventory extends Context.Service<
  LocalInventory,
  {
    /** A number that is there already gets the new trunk, sold or not. */
    readonly put: (number: StockedNumber) => Effect.Effect<void>
    readonly list: Effect.Effect<ReadonlyArray<StockedNumber & { readonly taken: boolean }>>
    /** False when there is none that is not sold. */
    readonly remove: (phoneNumber: string) => Effect.Effect<boolean>
  }
>()("@parley/workspace/LocalInventory") {
  static readonly layer: Layer.Layer<LocalInventory, never, Database | SqlClient.SqlClient> = Layer.effect(
    LocalInventory,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      return {
        put: (number) =>
          sql`INSERT INTO number_inventory
              (phone_number, friendly_name, locality, region, country_code, trunk, original_caller)
            VALUES (${number.phoneNumber}, ${number.friendlyName}, ${number.locality}, ${number.region},
              ${number.countryCode}, ${JSON.stringify(number.trunk)}::jsonb, ${number.originalCaller})
            ON CONFLICT (phone_number) DO UPDATE SET friendly_name = EXCLUDED.friendly_name,
              locality = EXCLUDED.locality, region = EXCLUDED.region, country_code = EXCLUDED.country_code,
              trunk = EXCLUDED.trunk, original_caller = EXCLUDED.original_caller`.pipe(Effect.orDie, Effect.asVoid),
        list: stockRows(sql`SELECT * FROM number_inventory ORDER BY phone_number`).pipe(
          Effect.map((rows) => rows.map(stocked)),
          Effect.orDie
        ),
        remove: (phoneNumber) =>
          sql`DELETE FROM number_inventory WHERE phone_number = ${phoneNumber} AND NOT taken RETURNING 1`.pipe(
            Effect.map((rows) => rows.length > 0),
            Effect.orDie
          )
      }
    })
  )
}

/** The port over that table. */
export const layer: Layer.Layer<Inventory, never, Database | SqlClient.SqlClient> = Layer.effect(
  Inventory,
  Effect.gen(function* () {
    yield* Database
    const sql = yield* SqlClient.SqlClient
    return {
      available: ({ area_code, country_code = "US" }) =>
        stockRows(sql`SELECT * FROM number_inventory WHERE NOT taken AND country_code = ${country_code}
            AND ${area_code === undefined ? sql`true` : sql`phone_number LIKE ${`+1${area_code}%`}`}
          ORDER BY phone_number LIMIT 50`).pipe(
          Effect.map((rows) =>
            rows.map((row) => ({
              phone_number: row.phone_number,
              friendly_name: row.friendly_name,
              locality: row.locality,
              region: row.region,
              country_code: row.country_code,
              number_type: "local"
            }))
          ),
          Effect.orDie
        ),
      isAvailable: (phoneNumber) =>
        sql`SELECT 1 FROM number_inventory WHERE phone_number = ${phoneNumber} AND NOT taken`.pipe(
          Effect.map((rows) => rows.length > 0),
          Effect.orDie
        ),
      buy: Effect.fnUntraced(function* (phoneNumber) {
        const rows = yield* stockRows(sql`UPDATE number_inventory SET taken = true
          WHERE phone_number = ${phoneNumber} AND NOT taken RETURNING *`).pipe(Effect.orDie)
        if (rows[0] === undefined) return yield* new InventoryFault({ message: "The number is no longer available" })
        if (hasFactor(rows[0].trunk)) return
        yield* sql`UPDATE number_inventory SET taken = false WHERE phone_number = ${phoneNumber}`.pipe(Effect.orDie)
        return yield* new InventoryFault({ message: "The number has no trunk yet" })
      }),
      release: (phoneNumber) =>
        sql`UPDATE number_inventory SET taken = false WHERE phone_number = ${phoneNumber}`.pipe(
          Effect.orDie,
          Effect.asVoid
        ),
      syncCallerId: Effect.fnUntraced(function* (phoneNumber, useOriginalCaller) {
        const rows = yield* stockRows(sql`SELECT * FROM number_inventory WHERE phone_number = ${phoneNumber}`).pipe(
          Effect.orDie
        )
        if (rows[0] === undefined) return yield* new InventoryFault({ message: "The number is not in the inventory" })
        if (useOriginalCaller && !rows[0].original_caller) {
          return yield* new InventoryFault({ message: "The number's trunk does not show original callers" })
        }
      }),
      trunkOf: (phoneNumber) =>
        stockRows(sql`SELECT * FROM number_inventory WHERE phone_number = ${phoneNumber} AND taken`).pipe(
          Effect.map((rows) => rows[0]?.trunk),
          Effect.orDie
        )
    }
  })
)

const StockRow = Schema.Struct({
  phone_number: Schema.String,
  friendly_name: Schema.String,
  locality: Schema.String,
  region: Schema.String,
  country_code: Schema.String,
  trunk: StoredTrunk,
  original_caller: Schema.Boolean,
  taken: Schema.Boolean
})
type StockRow = typeof StockRow.Type

const stocked = (row: StockRow): StockedNumber & { readonly taken: boolean } => ({
  phoneNumber: row.phone_number,
  friendlyName: row.friendly_name,
  locality: row.locality,
  region: row.region,
  countryCode: row.country_code,
  trunk: row.trunk,
  originalCaller: row.original_caller,
  taken: row.taken
})

const stockRows = rowsOf("number_inventory", StockRow)
