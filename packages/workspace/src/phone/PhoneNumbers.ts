// The workspace's telephone numbers, imported from a carrier of the customer's own or bought from the inventory. A
// bought number is on the platform once, an imported one once in each workspace. A foreign or released number is not found.
import {
  type BadGateway,
  BadRequest,
  type Conflict,
  type Forbidden,
  type Invalid,
  invalid,
  type NotFound,
  type PaymentRequired
} from "@parley/contract/Errors"
import { fault, type Fault } from "@parley/contract/Fault"
import type { Page } from "@parley/contract/Page"
import {
  type AvailableNumber,
  type AvailableQuery,
  createFaults,
  numberInQuery,
  type PhoneNumber,
  type PhoneNumberCreate,
  type PhoneNumberPatch,
  type PhoneNumberQuery,
  type SipConfigPut
} from "@parley/contract/PhoneNumber"
import { trunkFaults, type TrunkInput } from "@parley/contract/SipTrunk"
import { defaultVendor } from "@parley/contract/Vendor"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Billing } from "../billing/Billing.ts"
import { decimalOf } from "../billing/Money.ts"
import { Prices } from "../billing/Prices.ts"
import { Platform } from "../Platform.ts"
import { Database } from "../storage/Database.ts"
import { readPage } from "../storage/Paging.ts"
import { rowsOf } from "../storage/rows.ts"
import { secretOwner } from "../storage/SecretOwner.ts"
import { Secrets } from "../storage/Secrets.ts"
import { makeBindingFaults } from "./bindingFaults.ts"
import { addressFaults, makeImport } from "./numberImports.ts"
import { asked, Inventory } from "./Inventory.ts"
import * as NumberPurchases from "./NumberPurchases.ts"
import { numberFinder, numberRows, PhoneNumberRow, showNumber } from "./PhoneNumberRow.ts"
import { sealTrunk, type StoredTrunk } from "./Trunk.ts"

/** Imported numbers of one workspace, where the settings say nothing. */
const defaultMostImports = 100

/** Telephone numbers of a workspace. */
export class PhoneNumbers extends Context.Service<
  PhoneNumbers,
  {
    /** Imports (`sip`) or buys (`carrier`) a number. */
    readonly create: (
      workspace: string,
      input: PhoneNumberCreate
    ) => Effect.Effect<PhoneNumber, PaymentRequired | Forbidden | Conflict | Invalid | BadGateway>
    readonly list: (workspace: string, query: PhoneNumberQuery) => Effect.Effect<Page<PhoneNumber>, BadRequest>
    readonly get: (workspace: string, id: string) => Effect.Effect<PhoneNumber, NotFound>
    readonly update: (
      workspace: string,
      id: string,
      patch: PhoneNumberPatch
    ) => Effect.Effect<PhoneNumber, NotFound | Invalid>
    /** An imported number's trunk anew; passwords that are left out stay. */
    readonly replaceTrunk: (
      workspace: string,
      id: string,
      trunk: SipConfigPut
    ) => Effect.Effect<PhoneNumber, NotFound | Invalid>
    readonly release: (workspace: string, id: string) => Effect.Effect<void, NotFound>
    readonly available: (query: AvailableQuery) => Effect.Effect<ReadonlyArray<AvailableNumber>, BadRequest>
    readonly settleUnfinished: NumberPurchases.NumberPurchases["settleUnfinished"]
    readonly chargeDays: NumberPurchases.NumberPurchases["chargeDays"]
  }
>()("@parley/workspace/PhoneNumbers") {
  static readonly layer: Layer.Layer<
    PhoneNumbers,
    never,
    Database | SqlClient.SqlClient | Inventory | Billing | Platform | Prices | Secrets
  > = Layer.effect(
    PhoneNumbers,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const inventory = yield* Inventory
      const prices = yield* Prices
      const secrets = yield* Secrets
      const sealOf = (id: string) => secrets.of(secretOwner.number(id)).seal
      const { callCountries, mostImports = defaultMostImports, vendor = defaultVendor } = yield* Platform
      const purchases = yield* NumberPurchases.make
      const find = numberFinder(sql)
      const imports = makeImport(sql, mostImports, sealOf)

      const agentFaults = makeBindingFaults(sql, callCountries)

      return {
        create: Effect.fn("PhoneNumbers.create")(function* (workspace, input) {
          const imported = input.provider === "sip"
          const faults = [
            ...createFaults(input),
            ...(imported ? trunkAndAddressFaults(input, undefined, vendor) : []),
            ...(yield* agentFaults(workspace, input.agent_id, input.provider))
          ]
          if (faults.length > 0) return yield* invalid(faults)
          if (!imported) return showNumber(yield* Effect.uninterruptible(purchases.buy(workspace, input)))
          return showNumber(yield* imports(workspace, input))
        }),

        list: Effect.fn("PhoneNumbers.list")(function* (workspace, query) {
          const where = [sql`workspace_id = ${workspace}`, sql`status <> 'released'`]
          if (query.phone_number !== undefined) where.push(sql`phone_number = ${numberInQuery(query.phone_number)}`)
          if (query.agent_id !== undefined) where.push(sql`agent_id = ${query.agent_id}`)
          return yield* readPage(sql, query, { from: "phone_numbers", read: numberRows, where, show: showNumber })
        }),

        get: Effect.fn("PhoneNumbers.get")(function* (workspace, id) {
          return showNumber(yield* find(workspace, id))
        }),

        update: Effect.fn("PhoneNumbers.update")(function* (workspace, id, patch) {
          const row = yield* find(workspace, id)
          const faults = [
            ...(yield* agentFaults(workspace, patch.agent_id, row.provider)),
            ...boughtOnlyFaults(row, patch)
          ]
          if (faults.length > 0) return yield* invalid(faults)
          const [changed] = yield* change(sql, id, patch)
          if (changed?.sync === true) yield* Effect.uninterruptible(syncCallerId(sql, inventory, changed))
          return showNumber(yield* find(workspace, id))
        }),

        replaceTrunk: Effect.fn("PhoneNumbers.replaceTrunk")(
          function* (workspace, id, input) {
            const row = yield* find(workspace, id, "update")
            if (row.provider !== "sip") {
              return yield* invalid([
                fault(["body"], "is for imported numbers: the operator sets a bought one's trunk")
              ])
            }
            const kept = row.trunk ?? undefined
            const faults = trunkAndAddressFaults(input, kept, vendor)
            if (faults.length > 0) return yield* invalid(faults)
            yield* sql`UPDATE phone_numbers SET trunk = ${JSON.stringify(sealTrunk(input, kept, sealOf(id)))}::jsonb,
              updated_at = now() WHERE id = ${id}`
            return showNumber(yield* find(workspace, id))
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        release: Effect.fn("PhoneNumbers.release")(function* (workspace, id) {
          const row = yield* find(workspace, id)
          yield* sql`UPDATE phone_numbers SET status = 'released', agent_id = NULL, trunk = NULL, billed_until = NULL,
            updated_at = now() WHERE id = ${id}`.pipe(Effect.orDie)
          if (row.provider === "sip" || row.status !== "active") return
          yield* asked(inventory.release(row.phone_number)).pipe(
            Effect.catchTag("InventoryFault", () => Effect.logWarning("The inventory did not take a number back"))
          )
        }, Effect.uninterruptible),

        available: Effect.fn("PhoneNumbers.available")(function* (query) {
          if (query.number_type === "toll_free") {
            return yield* new BadRequest({ message: "Toll-free numbers are not available" })
          }
          const numbers = yield* inventory.available(query)
          const price = (yield* prices.list).find(({ name }) => name === "phone_number")
          // Prices of numbers are by the day; a month counts thirty.
          const monthly_price = decimalOf(price === undefined ? 0n : (price.amount * 30n) / price.per)
          return numbers.map((number) => Object.assign(number, { monthly_price }))
        }),

        settleUnfinished: purchases.settleUnfinished,
        chargeDays: purchases.chargeDays
      }
    })
  )
}

/** `sync`: the carrier must be told which number a target of a transfer sees. */
const changedRows = rowsOf("phone_numbers", Schema.Struct({ ...PhoneNumberRow.fields, sync: Schema.Boolean }))

/** One statement, so that two changes at the same time both count. */
const change = (sql: SqlClient.SqlClient, id: string, patch: PhoneNumberPatch) => {
  const { agent_id, cold_transfer_use_original_caller: wanted, label, retry_caller_id_sync: retry } = patch
  return changedRows(sql`WITH before AS (
      SELECT id, provider <> 'sip' AND status = 'active'
        AND (coalesce(${wanted ?? null}::boolean, use_original_caller) IS DISTINCT FROM use_original_caller
          OR (${retry ?? false} AND caller_id_sync_status = 'error')) AS sync
      FROM phone_numbers WHERE id = ${id} AND status <> 'released' FOR UPDATE)
    UPDATE phone_numbers n SET label = coalesce(${label ?? null}, label),
      agent_id = CASE WHEN ${agent_id === undefined} THEN agent_id ELSE ${agent_id ?? null} END,
      use_original_caller = coalesce(${wanted ?? null}::boolean, use_original_caller),
      caller_id_sync_status = CASE WHEN before.sync THEN 'pending' ELSE caller_id_sync_status END,
      caller_id_sync_error = CASE WHEN before.sync THEN '' ELSE caller_id_sync_error END,
      updated_at = now()
    FROM before WHERE n.id = before.id RETURNING n.*, before.sync`).pipe(Effect.orDie)
}

const syncCallerId = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  inventory: Inventory["Service"],
  row: PhoneNumberRow
) {
  const came = yield* Effect.result(asked(inventory.syncCallerId(row.phone_number, row.use_original_caller === true)))
  const fault = came._tag === "Failure" ? came.failure.message : ""
  yield* sql`UPDATE phone_numbers SET updated_at = now(), caller_id_sync_error = ${fault},
      caller_id_sync_status = ${fault === "" ? "synced" : "error"},
      effective_original_caller = CASE WHEN ${fault} = '' THEN ${row.use_original_caller}::boolean
        ELSE effective_original_caller END
    WHERE id = ${row.id} AND use_original_caller = ${row.use_original_caller}`.pipe(Effect.orDie)
})

const trunkAndAddressFaults = (
  input: TrunkInput,
  kept: StoredTrunk | undefined,
  vendor: string
): ReadonlyArray<Fault> => [
  ...trunkFaults(input, { inbound: kept?.inbound != null, termination: kept?.termination != null }, vendor),
  ...addressFaults(input)
]

/** The carrier of an imported number decides which caller a target of a transfer sees. */
const boughtOnlyFaults = (row: PhoneNumberRow, patch: PhoneNumberPatch): ReadonlyArray<Fault> => {
  if (row.provider !== "sip") return []
  const names = [
    ...(patch.cold_transfer_use_original_caller === undefined ? [] : ["cold_transfer_use_original_caller"]),
    ...(patch.retry_caller_id_sync === true ? ["retry_caller_id_sync"] : [])
  ]
  return names.map((name) => fault(["body", name], "is for bought numbers: the carrier of an imported one decides"))
}
