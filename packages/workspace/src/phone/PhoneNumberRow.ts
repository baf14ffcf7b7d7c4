// Rows of `phone_numbers`: how one is found, made, and shown by the API, which never shows passwords.
import { Conflict } from "@parley/contract/Errors"
import {
  CallerIdSync,
  type PhoneNumber,
  type PhoneNumberCreate,
  PhoneNumberStatus,
  PhoneProvider
} from "@parley/contract/PhoneNumber"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { finder, type FindRecord } from "../storage/records.ts"
import { exists, rowsOf } from "../storage/rows.ts"
import { StoredTrunk } from "./Trunk.ts"

/** A number as it is stored. */
export const PhoneNumberRow = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  workspace_id: Schema.String,
  phone_number: Schema.String,
  provider: PhoneProvider,
  agent_id: Schema.NullOr(Schema.String),
  status: PhoneNumberStatus,
  status_detail: Schema.String,
  label: Schema.String,
  /** Of an imported number; the inventory knows the others'. */
  trunk: Schema.NullOr(StoredTrunk),
  use_original_caller: Schema.NullOr(Schema.Boolean),
  effective_original_caller: Schema.NullOr(Schema.Boolean),
  caller_id_sync_status: CallerIdSync,
  caller_id_sync_error: Schema.String,
  created_at: Schema.Date,
  updated_at: Schema.Date
})
export type PhoneNumberRow = typeof PhoneNumberRow.Type

/** Rows of `phone_numbers` with all their columns. */
export const numberRows = rowsOf("phone_numbers", PhoneNumberRow)

/** A number that was not released. */
export const numberFinder = (sql: SqlClient.SqlClient): FindRecord<PhoneNumberRow> =>
  finder(sql, { table: "phone_numbers", noun: "Phone number", read: numberRows, where: sql`t.status <> 'released'` })

/** A number as the API shows it, without passwords. */
export const showNumber = (row: PhoneNumberRow): PhoneNumber => ({
  phone_number_id: row.id,
  workspace_id: row.workspace_id,
  phone_number: row.phone_number,
  provider: row.provider,
  agent_id: row.agent_id,
  status: row.status,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  label: row.label,
  cold_transfer_use_original_caller: row.use_original_caller,
  cold_transfer_use_original_caller_effective: row.effective_original_caller,
  caller_id_sync_status: row.caller_id_sync_status,
  caller_id_sync_error: row.caller_id_sync_error,
  status_detail: row.status_detail,
  supports_outbound: row.provider === "sip" ? (row.trunk?.uri ?? "") !== "" : true,
  termination_uri: row.trunk?.uri ?? "",
  inbound_auth_username: row.trunk?.inbound?.username ?? "",
  inbound_allowed_addresses: row.trunk?.allowedAddresses ?? [],
  termination_transport: row.trunk?.transport ?? "",
  termination_auth_username: row.trunk?.termination?.username ?? "",
  termination_headers: row.trunk?.headers ?? {}
})

/** Whether somebody bought the number here, or is buying it, or the workspace has it: an import of another proves nothing. */
export const isOwn = (sql: SqlClient.SqlClient, workspace: string, phoneNumber: string): Effect.Effect<boolean> =>
  Effect.orDie(
    exists(sql`SELECT 1 FROM phone_numbers
      WHERE phone_number = ${phoneNumber} AND status IN ('provisioning', 'active')
        AND (provider <> 'sip' OR workspace_id = ${workspace})`)
  )

/** What decides how a number begins, beside what was asked for. */
type NumberStart = Pick<PhoneNumberRow, "status" | "trunk" | "caller_id_sync_status" | "use_original_caller">

/** Fails with Conflict when the number is on the platform already. */
export const insertNumber = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspace: string,
  input: PhoneNumberCreate,
  start: NumberStart,
  id = newId("phone")
): Effect.fn.Return<PhoneNumberRow, Conflict> {
  const rows = yield* numberRows(sql`INSERT INTO phone_numbers (id, workspace_id, phone_number, provider,
      agent_id, status, label, trunk, use_original_caller, caller_id_sync_status)
    VALUES (${id}, ${workspace}, ${input.phone_number}, ${input.provider}, ${input.agent_id ?? null},
      ${start.status}, ${input.label ?? ""}, ${start.trunk === null ? null : JSON.stringify(start.trunk)}::jsonb,
      ${start.use_original_caller}, ${start.caller_id_sync_status})
    ON CONFLICT DO NOTHING RETURNING *`).pipe(Effect.orDie)
  return rows[0] ?? (yield* numberTaken)
})

/** Somebody on the platform has the number. */
export const numberTaken = new Conflict({ message: "The number is already on the platform" })
