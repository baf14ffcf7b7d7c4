// API keys of the installation: whose a key is, the one that a start prints, and the operator's list of all.
// The first key of an installation also stands in `<data>/first-key` (0600), so that every start can print it, until it is
// revoked.
import { type ApiKeyCreate, KeyScope } from "@parley/contract/ApiKey"
import type { Principal } from "@parley/contract/MainApi/Authorization"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Database } from "../storage/Database.ts"
import { exists, onlyRow, rowsOf } from "../storage/rows.ts"
import { hashOf, insertKey, newKey, notRevoked, unlimitedKey, working } from "./ApiKeyRow.ts"
import { firstWorkspace, Workspaces } from "./Workspaces.ts"

/** What an operator sees of a key. */
const ApiKeyInfo = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  label: Schema.String,
  /** Its first and last characters. */
  hint: Schema.String,
  scopes: Schema.Array(KeyScope),
  createdAt: Schema.Date,
  lastUsedAt: Schema.NullOr(Schema.Date),
  expiresAt: Schema.NullOr(Schema.Date)
})
export type ApiKeyInfo = typeof ApiKeyInfo.Type

/** What an operator changes of a key; what is omitted stays. */
export interface KeyChange {
  readonly label?: string | undefined
  readonly scopes?: ReadonlyArray<KeyScope> | undefined
  /** ISO 8601; null: for good. */
  readonly expiresAt?: string | null | undefined
}

/** API keys of the installation. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** A key of the workspace of this name, which is made when there is none; every scope and no expiry unless told. */
    readonly create: (
      workspaceName: string,
      given?: Partial<ApiKeyCreate>
    ) => Effect.Effect<{ readonly id: string; readonly key: Redacted.Redacted<string> }>
    /** Those that were not revoked. */
    readonly list: Effect.Effect<ReadonlyArray<ApiKeyInfo>>
    /** False when there is no such key, or it was revoked. */
    readonly change: (id: string, change: KeyChange) => Effect.Effect<boolean>
    /** False when there is no such key, or it was revoked before. */
    readonly revoke: (id: string) => Effect.Effect<boolean>
    /** Whose key this is; undefined for a key that is unknown, expired or revoked. */
    readonly authenticate: (key: Redacted.Redacted<string>) => Effect.Effect<Principal | undefined>
    /**
     * The key to print at start: the given one, or the first key, made when the installation has none yet. Undefined when
     * that key was revoked or has expired: it stays so, whatever the setting says. A former given key is retired, until it
     * is given again.
     */
    readonly first: (
      given: Redacted.Redacted<string> | undefined,
      folder: string
    ) => Effect.Effect<Redacted.Redacted<string> | undefined>
  }
>()("@parley/workspace/ApiKeys") {
  static readonly layer: Layer.Layer<ApiKeys, never, Database | SqlClient.SqlClient | Workspaces> = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const workspaces = yield* Workspaces

      const opens = (key: string) => exists(sql`SELECT 1 FROM api_keys WHERE hash = ${hashOf(key)} AND ${working(sql)}`)

      const touch = (id: string) =>
        sql`UPDATE api_keys SET last_used_at = now() WHERE id = ${id}
          AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`

      /** Every key that PARLEY_API_KEY had before, but the given one. */
      const retire = (given: Redacted.Redacted<string> | undefined) =>
        sql`UPDATE api_keys SET revoked_at = now(), retired = true WHERE origin = 'setting' AND revoked_at IS NULL
          AND hash <> ${given === undefined ? "" : hashOf(Redacted.value(given))}`

      return {
        create: Effect.fn("ApiKeys.create")(function* (workspaceName, given = {}) {
          const key = Redacted.make(newKey())
          const workspaceId = yield* workspaces.ensure(workspaceName)
          const { id } = yield* onlyRow(insertKey(sql, workspaceId, key, "made", { ...unlimitedKey, ...given }))
          return { id, key }
        }, Effect.orDie),

        list: infoRows(sql`SELECT k.id, w.name AS workspace, k.label, k.hint, k.scopes, k.created_at AS "createdAt",
            k.last_used_at AS "lastUsedAt", k.expires_at AS "expiresAt"
          FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id
          WHERE ${notRevoked(sql)} ORDER BY k.created_at, k.id`).pipe(Effect.orDie),

        change: Effect.fn("ApiKeys.change")((id, { expiresAt, label, scopes }) =>
          exists(sql`UPDATE api_keys SET label = coalesce(${label ?? null}, label),
              scopes = coalesce(${scopes === undefined ? null : JSON.stringify(scopes)}::jsonb, scopes),
              expires_at = ${expiresAt === undefined ? sql`expires_at` : sql`${expiresAt}::timestamptz`}
            WHERE id = ${id} AND ${notRevoked(sql)} RETURNING id`).pipe(Effect.orDie)
        ),

        revoke: Effect.fn("ApiKeys.revoke")((id) =>
          exists(sql`UPDATE api_keys SET revoked_at = now(), retired = false
            WHERE id = ${id} AND (${notRevoked(sql)} OR retired) RETURNING id`).pipe(Effect.orDie)
        ),

        authenticate: Effect.fnUntraced(function* (key) {
          const [row] = yield* ownerRows(sql`SELECT id, workspace_id, scopes, expires_at,
              (last_used_at IS NULL OR last_used_at < now() - interval '1 minute') AS stale
            FROM api_keys WHERE hash = ${hashOf(Redacted.value(key))} AND ${working(sql)}`)
          if (row === undefined) return undefined
          if (row.stale) yield* touch(row.id)
          return { keyId: row.id, workspaceId: row.workspace_id, scopes: row.scopes, expiresAt: row.expires_at }
        }, Effect.orDie),

        first: Effect.fn("ApiKeys.first")(function* (given, folder) {
          const workspaceId = yield* workspaces.ensure(firstWorkspace)
          yield* retire(given)
          if (given !== undefined) {
            yield* insertKey(sql, workspaceId, given, "setting", unlimitedKey)
            return (yield* opens(Redacted.value(given))) ? given : undefined
          }
          const file = join(folder, "first-key")
          const kept = readKey(file)
          if (kept !== undefined) {
            if (yield* opens(kept)) return Redacted.make(kept)
            rmSync(file, { force: true })
          }
          if (yield* exists(sql`SELECT 1 FROM api_keys WHERE origin <> 'setting' LIMIT 1`)) return undefined
          const key = newKey()
          // The file first: a key that is stored and shown nowhere would be lost.
          writeFileSync(file, key, { mode: 0o600 })
          yield* insertKey(sql, workspaceId, Redacted.make(key), "first", unlimitedKey)
          return Redacted.make(key)
        }, Effect.orDie)
      }
    })
  )
}

const readKey = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8").trim() || undefined
  } catch {
    return undefined
  }
}

const infoRows = rowsOf("api_keys", ApiKeyInfo)

const ownerRows = rowsOf(
  "api_keys",
  Schema.Struct({
    id: Schema.String,
    workspace_id: Schema.String,
    scopes: Schema.Array(KeyScope),
    expires_at: Schema.NullOr(Schema.Date),
    stale: Schema.Boolean
  })
)
