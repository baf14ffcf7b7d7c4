// The purchase of a number from the inventory. The first day is charged, in the transaction that makes the row, before
// the inventory is asked; when that fails, or the process dies meanwhile, the row stays as `error` and the day is given
// back.
import {
  BadGateway,
  type Conflict,
  Forbidden,
  type Invalid,
  invalid,
  type PaymentRequired
} from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import type { PhoneNumberCreate } from "@parley/contract/PhoneNumber"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Billing } from "../billing/Billing.ts"
import { countOf, rowsOf } from "../storage/rows.ts"
import { asked, Inventory } from "./Inventory.ts"
import { insertNumber, isOwn, numberRows, type PhoneNumberRow, numberTaken } from "./PhoneNumberRow.ts"

/** Bought numbers of one workspace. */
const mostNumbers = 20

/** Purchases of numbers and their daily charges. */
export interface NumberPurchases {
  /** BadGateway: the inventory refused; Forbidden: the workspace has its 20 numbers. Must not be interrupted. */
  readonly buy: (
    workspace: string,
    input: PhoneNumberCreate
  ) => Effect.Effect<PhoneNumberRow, PaymentRequired | Forbidden | Conflict | Invalid | BadGateway>
  /** What a dead process was buying becomes `error`. Returns how many. */
  readonly settleUnfinished: Effect.Effect<number>
  /** Charges another day of each bought number whose days are over, 100 at most. Returns how many. */
  readonly chargeDays: Effect.Effect<number>
}

export const make: Effect.Effect<NumberPurchases, never, Billing | Inventory | SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const inventory = yield* Inventory
    const billing = yield* Billing

    /** Nothing but the row stays of a purchase that failed. */
    const giveBack = Effect.fnUntraced(
      function* (row: Pick<PhoneNumberRow, "id" | "workspace_id">, detail: string) {
        const rows = yield* sql`UPDATE phone_numbers SET status = 'error', status_detail = ${detail},
            caller_id_sync_status = 'error', caller_id_sync_error = ${detail}, updated_at = now()
          WHERE id = ${row.id} AND status = 'provisioning' RETURNING 1`
        if (rows.length > 0) yield* billing.refund(row.workspace_id, firstDay)
      },
      (effect) => sql.withTransaction(effect).pipe(Effect.orDie)
    )

    const chargedRow = Effect.fnUntraced(
      function* (workspace: string, input: PhoneNumberCreate) {
        yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`numbers of ${workspace}`}, 0))`
        const numbers = yield* countOf(sql`SELECT count(*)::int AS n FROM phone_numbers
          WHERE workspace_id = ${workspace} AND provider <> 'sip' AND status IN ('provisioning', 'active')`)
        if (numbers >= mostNumbers) {
          return yield* new Forbidden({ message: `A workspace may have ${mostNumbers} bought numbers` })
        }
        const row = yield* insertNumber(sql, workspace, input, {
          status: "provisioning",
          trunk: null,
          use_original_caller: false,
          caller_id_sync_status: "pending"
        })
        yield* billing.charge(workspace, firstDay)
        return row
      },
      (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
    )

    return {
      buy: Effect.fnUntraced(function* (workspace, input) {
        const number = input.phone_number
        if (yield* isOwn(sql, workspace, number)) return yield* numberTaken
        if (!(yield* inventory.isAvailable(number))) {
          return yield* invalid([fault(["body", "phone_number"], "is not among the available numbers")])
        }
        yield* billing.admit(workspace, { kind: "phone_number", model: "" })
        const row = yield* chargedRow(workspace, input)
        yield* asked(inventory.buy(number)).pipe(
          Effect.catchTag("InventoryFault", ({ message }) =>
            Effect.andThen(giveBack(row, message), new BadGateway({ message }))
          )
        )
        const [bought = row] = yield* numberRows(sql`UPDATE phone_numbers SET status = 'active', updated_at = now(),
            effective_original_caller = false, caller_id_sync_status = 'synced',
            billed_until = created_at + interval '1 day'
          WHERE id = ${row.id} RETURNING *`).pipe(Effect.orDie)
        return bought
      }),

      settleUnfinished: Effect.gen(function* () {
        const rows = yield* numberRows(sql`SELECT * FROM phone_numbers
          WHERE status = 'provisioning' AND created_at < now() - interval '2 minutes'`).pipe(Effect.orDie)
        for (const row of rows) {
          yield* asked(inventory.release(row.phone_number)).pipe(Effect.ignore)
          yield* giveBack(row, "The purchase was interrupted")
        }
        return rows.length
      }),

      chargeDays: Effect.gen(function* () {
        const rows = yield* ownerRows(sql`UPDATE phone_numbers SET billed_until = billed_until + interval '1 day'
          WHERE id IN (SELECT id FROM phone_numbers WHERE billed_until <= now() AND status = 'active'
            ORDER BY billed_until LIMIT 100 FOR UPDATE SKIP LOCKED) RETURNING workspace_id`)
        for (const row of rows) yield* billing.charge(row.workspace_id, firstDay)
        return rows.length
      }).pipe(sql.withTransaction, Effect.orDie)
    }
  }
)

const firstDay = { kind: "phone_number", days: 1 } as const

const ownerRows = rowsOf("phone_numbers", Schema.Struct({ workspace_id: Schema.String }))
