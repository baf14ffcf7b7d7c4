// Rows of `api_keys`: which of them open, how one is made, and what is shown of it. Only the SHA-256 of a key is stored
// (nothing slower is needed for 256 random bits).
import { type ApiKey, type ApiKeyCreate, KeyScope, keyScopes } from "@parley/contract/ApiKey"
import { Redacted, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { hash, randomBytes } from "node:crypto"
import { newId } from "../storage/Id.ts"
import { rowsOf } from "../storage/rows.ts"

const ApiKeyRow = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  label: Schema.String,
  hint: Schema.String,
  scopes: Schema.Array(KeyScope),
  created_at: Schema.Date,
  expires_at: Schema.NullOr(Schema.Date),
  last_used_at: Schema.NullOr(Schema.Date),
  revoked_at: Schema.NullOr(Schema.Date)
})
export type ApiKeyRow = typeof ApiKeyRow.Type

/** Rows of `api_keys` with all their columns. */
export const apiKeyRows = rowsOf("api_keys", ApiKeyRow)

/** Where a key comes from: made on request, the first one of the installation, or PARLEY_API_KEY. */
export type KeyOrigin = "made" | "first" | "setting"

/** What a key is made with when nothing else is said: every scope, for good. */
export const unlimitedKey: ApiKeyCreate = { label: "", scopes: keyScopes, expires_at: null }

/** The condition for keys that were not revoked; one that was rotated is not until its overlap is over. */
export const notRevoked = (sql: SqlClient.SqlClient) => sql`(revoked_at IS NULL OR revoked_at > now())`

/** The condition for keys that open. */
export const working = (sql: SqlClient.SqlClient) =>
  sql`${notRevoked(sql)} AND (expires_at IS NULL OR expires_at > now())`

/** `pk_` and 256 random bits. */
export const newKey = (): string => `pk_${randomBytes(32).toString("base64url")}`

/** What is stored of a key: its SHA-256 in hex. */
export const hashOf = (key: string): string => hash("sha256", key)

/**
 * Stores a key and gives its row; no row for one that was stored before, but where that was retired because the setting had
 * changed: it comes back.
 */
export const insertKey = (
  sql: SqlClient.SqlClient,
  workspaceId: string,
  key: Redacted.Redacted<string>,
  origin: KeyOrigin,
  { expires_at, label, scopes }: ApiKeyCreate
) => {
  const plain = Redacted.value(key)
  const hint = origin === "setting" ? "PARLEY_API_KEY" : `${plain.slice(0, 7)}...${plain.slice(-4)}`
  return apiKeyRows(sql`INSERT INTO api_keys (id, workspace_id, hash, hint, origin, label, scopes, expires_at)
    VALUES (${newId("key")}, ${workspaceId}, ${hashOf(plain)}, ${hint}, ${origin}, ${label},
      ${JSON.stringify(scopes)}::jsonb, ${expires_at}::timestamptz)
    ON CONFLICT (hash) DO UPDATE SET revoked_at = NULL, retired = false WHERE api_keys.retired RETURNING *`)
}

/** As the API has it. */
export const showKey = (row: ApiKeyRow): ApiKey => ({
  key_id: row.id,
  label: row.label,
  hint: row.hint,
  scopes: row.scopes,
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  revoked_at: row.revoked_at?.toISOString() ?? null
})
