// The workspace's telephone numbers (spec: Phone number; decisions 8). A number is on the platform once. One that is
// bought is charged for its first day before the inventory is asked; when that fails, or the process dies meanwhile, the
// row stays as `error` and the day is given back. A foreign or released number is not found.
import {
  BadGateway,
  BadRequest,
  Conflict,
  Forbidden,
  type Invalid,
  invalid,
  type NotFound,
  notFound,
  type PaymentRequired
} from "@parley/contract/Errors"
import { fault, type Fault } from "@parley/contract/Fault"
import type { Page } from "@parley/contract/Page"
import {
  type AvailableNumber,
  type AvailableQuery,
  createFaults,
  type PhoneNumber,
  type PhoneNumberCreate,
  type PhoneNumberPatch,
  type PhoneNumberQuery,
  type SipConfigPut
} from "@parley/contract/PhoneNumber"
import { trunkFaults, type TrunkInput } from "@parley/contract/SipTrunk"
import { defaultVendor } from "@parley/contract/Vendor"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { Billing } from "../billing/Billing.ts"
import { decimalOf } from "../billing/Money.ts"
import { parseBlock } from "../outbound/IpAddress.ts"
import { readPage } from "../storage/Paging.ts"
import { Platform } from "../Platform.ts"
import { Secrets } from "../storage/Secrets.ts"
import { Database } from "../storage/Database.ts"
import { numberInQuery } from "./dialledNumbers.ts"
import { Inventory, InventoryFault } from "./Inventory.ts"
import { type PhoneNumberRow, showNumber } from "./PhoneNumberRow.ts"
import { sealTrunk, type StoredTrunk } from "./Trunk.ts"

/** Bought numbers of one workspace. */
export const mostNumbers = 20

const inventoryMs = 15_000

export class PhoneNumbers extends Context.Service<
  PhoneNumbers,
  {
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
    /** What a dead process was buying becomes `error`. Returns how many. */
    readonly settleUnfinished: Effect.Effect<number>
    /** Charges another day of each bought number whose days are over. Returns how many. */
    readonly chargeDays: Effect.Effect<number>
  }
>()("@parley/workspace/PhoneNumbers") {
  static readonly layer: Layer.Layer<
    PhoneNumbers,
    never,
    Database | SqlClient.SqlClient | Inventory | Billing | Platform | Secrets
  > = Layer.effect(
    PhoneNumbers,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const inventory = yield* Inventory
      const billing = yield* Billing
      const secrets = yield* Secrets
      const { vendor = defaultVendor } = yield* Platform

      const find = Effect.fnUntraced(function* (workspace: string, id: string, forUpdate = false) {
        const lock = forUpdate ? sql`FOR UPDATE` : sql``
        const rows = yield* sql<PhoneNumberRow>`SELECT * FROM phone_numbers
          WHERE id = ${id} AND workspace_id = ${workspace} AND status <> 'released' ${lock}`.pipe(Effect.orDie)
        return rows[0] ?? (yield* notFound("Phone number"))
      })

      const agentFaults = Effect.fnUntraced(function* (workspace: string, id: string | null | undefined) {
        if (id === undefined || id === null) return []
        const rows = yield* sql`SELECT 1 FROM agents
          WHERE id = ${id} AND workspace_id = ${workspace} AND deleted_at IS NULL`.pipe(Effect.orDie)
        return rows.length > 0 ? [] : [fault(["body", "agent_id"], "unknown agent")]
      })

      const insert = Effect.fnUntraced(function* (
        workspace: string,
        input: PhoneNumberCreate,
        made: Pick<PhoneNumberRow, "status" | "trunk" | "caller_id_sync_status" | "use_original_caller">
      ) {
        const rows = yield* sql<PhoneNumberRow>`INSERT INTO phone_numbers (id, workspace_id, phone_number, provider,
            agent_id, status, label, trunk, use_original_caller, caller_id_sync_status)
          VALUES (${newId("phone")}, ${workspace}, ${input.phone_number}, ${input.provider}, ${input.agent_id ?? null},
            ${made.status}, ${input.label ?? ""}, ${made.trunk === null ? null : JSON.stringify(made.trunk)}::jsonb,
            ${made.use_original_caller}, ${made.caller_id_sync_status})
          ON CONFLICT (phone_number) WHERE status IN ('provisioning', 'active') DO NOTHING RETURNING *`.pipe(
          Effect.orDie
        )
        return rows[0] ?? (yield* taken)
      })

      const isOnPlatform = (phoneNumber: string) =>
        sql`SELECT 1 FROM phone_numbers
          WHERE phone_number = ${phoneNumber} AND status IN ('provisioning', 'active')`.pipe(
          Effect.map((rows) => rows.length > 0),
          Effect.orDie
        )

      const importNumber = Effect.fnUntraced(function* (workspace: string, input: PhoneNumberCreate) {
        const row = yield* insert(workspace, input, {
          status: "active",
          trunk: sealTrunk(input, undefined, secrets.seal),
          use_original_caller: null,
          caller_id_sync_status: "carrier_managed"
        })
        return showNumber(row)
      })

      /** Nothing but the row stays of a purchase that failed. */
      const giveBack = Effect.fnUntraced(
        function* (row: Pick<PhoneNumberRow, "id" | "workspace_id">, detail: string) {
          const rows = yield* sql<PhoneNumberRow>`UPDATE phone_numbers SET status = 'error', status_detail = ${detail},
              caller_id_sync_status = 'error', caller_id_sync_error = ${detail}, updated_at = now()
            WHERE id = ${row.id} AND status = 'provisioning' RETURNING *`
          if (rows.length > 0) yield* billing.refund(row.workspace_id, firstDay)
        },
        (effect) => sql.withTransaction(effect).pipe(Effect.orDie)
      )

      const purchase = Effect.fnUntraced(function* (workspace: string, input: PhoneNumberCreate) {
        const number = input.phone_number
        if (yield* isOnPlatform(number)) return yield* taken
        if (!(yield* inventory.isAvailable(number))) {
          return yield* invalid([fault(["body", "phone_number"], "is not among the available numbers")])
        }
        yield* billing.admit(workspace, { kind: "phone_number", model: "" })
        const row = yield* sql
          .withTransaction(
            Effect.gen(function* () {
              yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`numbers of ${workspace}`}, 0))`
              const counted = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM phone_numbers
                WHERE workspace_id = ${workspace} AND provider <> 'sip' AND status IN ('provisioning', 'active')`
              if ((counted[0]?.n ?? 0) >= mostNumbers) {
                return yield* new Forbidden({ message: `A workspace may have ${mostNumbers} bought numbers` })
              }
              const made = yield* insert(workspace, input, {
                status: "provisioning",
                trunk: null,
                use_original_caller: false,
                caller_id_sync_status: "pending"
              })
              yield* billing.charge(workspace, firstDay)
              return made
            })
          )
          .pipe(Effect.catchTag("SqlError", Effect.die))
        return yield* asked(inventory.buy(number)).pipe(
          Effect.catchTag("InventoryFault", ({ message }) =>
            Effect.andThen(giveBack(row, message), new BadGateway({ message }))
          ),
          Effect.andThen(
            sql<PhoneNumberRow>`UPDATE phone_numbers SET status = 'active', updated_at = now(),
              effective_original_caller = false, caller_id_sync_status = 'synced',
              billed_until = created_at + interval '1 day'
            WHERE id = ${row.id} RETURNING *`.pipe(Effect.orDie)
          ),
          Effect.map(([bought = row]) => showNumber(bought))
        )
      })

      const syncCallerId = Effect.fnUntraced(function* (row: PhoneNumberRow) {
        const came = yield* Effect.result(
          asked(inventory.syncCallerId(row.phone_number, row.use_original_caller === true))
        )
        const refused = came._tag === "Failure" ? came.failure.message : ""
        yield* sql`UPDATE phone_numbers SET updated_at = now(), caller_id_sync_error = ${refused},
            caller_id_sync_status = ${refused === "" ? "synced" : "error"},
            effective_original_caller = CASE WHEN ${refused} = '' THEN ${row.use_original_caller}::boolean
              ELSE effective_original_caller END
          WHERE id = ${row.id} AND use_original_caller = ${row.use_original_caller}`.pipe(Effect.orDie)
      })

      const judge = (input: TrunkInput, kept: StoredTrunk | undefined): ReadonlyArray<Fault> => [
        ...trunkFaults(input, { inbound: kept?.inbound != null, termination: kept?.termination != null }, vendor),
        ...addressFaults(input.inbound_allowed_addresses ?? [])
      ]

      return {
        create: Effect.fn("PhoneNumbers.create")(function* (workspace, input) {
          const imported = input.provider === "sip"
          const faults = [
            ...createFaults(input),
            ...(imported ? judge(input, undefined) : []),
            ...(yield* agentFaults(workspace, input.agent_id))
          ]
          if (faults.length > 0) return yield* invalid(faults)
          return yield* imported ? importNumber(workspace, input) : Effect.uninterruptible(purchase(workspace, input))
        }),

        list: Effect.fn("PhoneNumbers.list")(function* (workspace, query) {
          const conditions = [sql`workspace_id = ${workspace}`, sql`status <> 'released'`]
          if (query.phone_number !== undefined) {
            conditions.push(sql`phone_number = ${numberInQuery(query.phone_number)}`)
          }
          if (query.agent_id !== undefined) conditions.push(sql`agent_id = ${query.agent_id}`)
          return yield* readPage(sql, query, { from: "phone_numbers", where: conditions, show: showNumber })
        }),

        get: Effect.fn("PhoneNumbers.get")(function* (workspace, id) {
          return showNumber(yield* find(workspace, id))
        }),

        update: Effect.fn("PhoneNumbers.update")(function* (workspace, id, patch) {
          const row = yield* find(workspace, id)
          const { agent_id, cold_transfer_use_original_caller: wanted, label, retry_caller_id_sync: retry } = patch
          const faults = [
            ...(yield* agentFaults(workspace, agent_id)),
            ...(row.provider !== "sip"
              ? []
              : [
                  ...(wanted === undefined ? [] : [managed("cold_transfer_use_original_caller")]),
                  ...(retry === true ? [managed("retry_caller_id_sync")] : [])
                ])
          ]
          if (faults.length > 0) return yield* invalid(faults)
          const changed = yield* sql<PhoneNumberRow & { readonly sync: boolean }>`WITH before AS (
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
            FROM before WHERE n.id = before.id RETURNING n.*, before.sync`.pipe(Effect.orDie)
          if (changed[0]?.sync === true) yield* Effect.uninterruptible(syncCallerId(changed[0]))
          return showNumber(yield* find(workspace, id))
        }),

        replaceTrunk: Effect.fn("PhoneNumbers.replaceTrunk")(
          function* (workspace, id, input) {
            const row = yield* find(workspace, id, true)
            if (row.provider !== "sip") {
              return yield* invalid([
                fault(["body"], "is for imported numbers: the operator sets a bought one's trunk")
              ])
            }
            const kept = row.trunk ?? undefined
            const faults = judge(input, kept)
            if (faults.length > 0) return yield* invalid(faults)
            const trunk = sealTrunk(input, kept, secrets.seal)
            yield* sql`UPDATE phone_numbers SET trunk = ${JSON.stringify(trunk)}::jsonb, updated_at = now()
              WHERE id = ${id}`
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
          const prices = yield* sql<{ amount_nano: bigint; per: bigint }>`SELECT amount_nano, per FROM prices
            WHERE name = 'phone_number'`.pipe(Effect.orDie)
          const price = prices[0]
          const monthly = price === undefined ? 0n : (BigInt(price.amount_nano) * 30n) / BigInt(price.per)
          const monthly_price = decimalOf(monthly)
          return numbers.map((number) => Object.assign(number, { monthly_price }))
        }),

        settleUnfinished: Effect.gen(function* () {
          const rows = yield* sql<PhoneNumberRow>`SELECT * FROM phone_numbers
            WHERE status = 'provisioning' AND created_at < now() - interval '2 minutes'`.pipe(Effect.orDie)
          for (const row of rows) {
            yield* asked(inventory.release(row.phone_number)).pipe(Effect.ignore)
            yield* giveBack(row, "The purchase was interrupted")
          }
          return rows.length
        }),

        chargeDays: Effect.gen(function* () {
          const rows = yield* sql<{ workspace_id: string }>`UPDATE phone_numbers
            SET billed_until = billed_until + interval '1 day'
            WHERE id IN (SELECT id FROM phone_numbers WHERE billed_until <= now() AND status = 'active'
              ORDER BY billed_until LIMIT 100 FOR UPDATE SKIP LOCKED) RETURNING workspace_id`
          for (const row of rows) yield* billing.charge(row.workspace_id, firstDay)
          return rows.length
        }).pipe(sql.withTransaction, Effect.orDie)
      }
    })
  )
}

const firstDay = { kind: "phone_number", days: 1 } as const

const taken = new Conflict({ message: "The number is already on the platform" })

const addressFaults = (addresses: ReadonlyArray<string>): ReadonlyArray<Fault> =>
  addresses.flatMap((address, index) =>
    parseBlock(address) === undefined
      ? [fault(["body", "inbound_allowed_addresses", index], "must be an IP address or a block such as 203.0.113.0/24")]
      : []
  )

const asked = <A>(step: Effect.Effect<A, InventoryFault>) =>
  Effect.timeoutOrElse(step, {
    duration: inventoryMs,
    orElse: () => new InventoryFault({ message: "The inventory did not answer in time" })
  })

const managed = (field: string) =>
  fault(["body", field], "is for bought numbers: the carrier of an imported one decides")
