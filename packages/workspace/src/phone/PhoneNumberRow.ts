// A row of `phone_numbers`, and how the API shows it: passwords never.
import type { PhoneNumber } from "@parley/contract/PhoneNumber"
import type { StoredTrunk } from "./Trunk.ts"

export interface PhoneNumberRow {
  readonly seq: bigint
  readonly id: string
  readonly workspace_id: string
  readonly phone_number: string
  readonly provider: PhoneNumber["provider"]
  readonly agent_id: string | null
  readonly status: PhoneNumber["status"]
  readonly status_detail: string
  readonly label: string
  /** Of an imported number; the inventory knows the others'. */
  readonly trunk: StoredTrunk | null
  readonly use_original_caller: boolean | null
  readonly effective_original_caller: boolean | null
  readonly caller_id_sync_status: PhoneNumber["caller_id_sync_status"]
  readonly caller_id_sync_error: string
  readonly created_at: Date
  readonly updated_at: Date
}

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
