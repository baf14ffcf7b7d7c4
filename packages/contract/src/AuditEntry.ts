// Who changed what: one entry for each change that the management API made. It holds no contents, no secret and no address.
import { Schema } from "effect"
import { pageFields } from "./Page.ts"

/** A change. */
export const AuditEntry = Schema.Struct({
  audit_entry_id: Schema.String,
  created_at: Schema.String,
  key_id: Schema.String,
  /** As the key was called then. */
  key_label: Schema.String,
  /** The operation as /openapi.json names it: `agents.publishAgent`. */
  action: Schema.String,
  /** What was changed or made: `agent`, `tool`; null where the operation is about no single record. */
  resource_type: Schema.NullOr(Schema.String),
  resource_id: Schema.NullOr(Schema.String)
})
export type AuditEntry = typeof AuditEntry.Type

/** One page, newest first. */
export const AuditPage = Schema.Struct({ audit_entries: Schema.Array(AuditEntry), ...pageFields })
