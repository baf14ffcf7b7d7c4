// API keys: a long random text of which only the SHA-256 is stored (nothing slower is needed for 256 random bits).
// The one exception: the first key of an installation also stands in `<data>/first-key` (0600), so that every
// start can print it, until it is revoked.
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hash, randomBytes } from "node:crypto"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Principal } from "@parley/contract/MainApi/Authorization"
import { newId } from "../storage/Id.ts"
import { Database } from "../storage/Database.ts"
import { firstWorkspace, Workspaces } from "./Workspaces.ts"
import { rowsOf } from "../storage/rows.ts"

/** What may be shown of a key. */
const ApiKeyInfo = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  /** Its first and last characters. */
  hint: Schema.String,
  createdAt: Schema.Date,
  lastUsedAt: Schema.NullOr(Schema.Date)
})
export type ApiKeyInfo = typeof ApiKeyInfo.Type

/** API keys of the installation. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly create: (
      workspaceName: string
    ) => Effect.Effect<{ readonly id: string; readonly key: Redacted.Redacted<string> }>
    readonly list: Effect.Effect<ReadonlyArray<ApiKeyInfo>>
    /** False when there is no such key, or it was revoked before. */
    readonly revoke: (id: string) => Effect.Effect<boolean>
    /** Whose key this is; undefined for a key that is unknown or revoked. */
    readonly authenticate: (key: Redacted.Redacted<string>) => Effect.Effect<Principal | undefined>
    /**
     * The key to print at start: the given one, or the first key, made when the installation has none yet. Undefined when
     * that key was revoked: it stays so, whatever the setting says. A former given key is retired, until it is given again.
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

      const insert = Effect.fnUntraced(function* (workspaceId: string, key: string, origin: string) {
        const id = newId("key")
        const hint = origin === "setting" ? "PARLEY_API_KEY" : `${key.slice(0, 7)}...${key.slice(-4)}`
        yield* sql`INSERT INTO api_keys (id, workspace_id, hash, hint, origin)
          VALUES (${id}, ${workspaceId}, ${hashOf(key)}, ${hint}, ${origin})
          ON CONFLICT (hash) DO UPDATE SET revoked_at = NULL, retired = false WHERE api_keys.retired`
        return id
      })

      const isLive = (key: string) =>
        sql`SELECT 1 FROM api_keys WHERE hash = ${hashOf(key)} AND revoked_at IS NULL`.pipe(
          Effect.map((rows) => rows.length > 0)
        )

      const touch = (id: string) =>
        sql`UPDATE api_keys SET last_used_at = now() WHERE id = ${id}
          AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`

      return {
        create: Effect.fn("ApiKeys.create")(function* (workspaceName) {
          const key = newKey()
          const id = yield* insert(yield* workspaces.ensure(workspaceName), key, "made")
          return { id, key: Redacted.make(key) }
        }, Effect.orDie),

        list: keyRows(sql`SELECT k.id, w.name AS workspace, k.hint, k.created_at AS "createdAt",
            k.last_used_at AS "lastUsedAt"
          FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id
          WHERE k.revoked_at IS NULL ORDER BY k.created_at, k.id`).pipe(Effect.orDie),

        revoke: Effect.fn("ApiKeys.revoke")(function* (id) {
          const rows = yield* sql`UPDATE api_keys SET revoked_at = now(), retired = false
            WHERE id = ${id} AND (revoked_at IS NULL OR retired) RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        authenticate: Effect.fnUntraced(function* (key) {
          const rows = yield* keyOwners(sql`
            SELECT id, workspace_id, (last_used_at IS NULL OR last_used_at < now() - interval '1 minute') AS stale
            FROM api_keys WHERE hash = ${hashOf(Redacted.value(key))} AND revoked_at IS NULL`)
          const row = rows[0]
          if (row === undefined) return undefined
          if (row.stale) yield* touch(row.id)
          return { keyId: row.id, workspaceId: row.workspace_id }
        }, Effect.orDie),

        first: Effect.fn("ApiKeys.first")(function* (given, folder) {
          const workspaceId = yield* workspaces.ensure(firstWorkspace)
          yield* sql`UPDATE api_keys SET revoked_at = now(), retired = true WHERE origin = 'setting' AND revoked_at IS NULL
            AND hash <> ${given === undefined ? "" : hashOf(Redacted.value(given))}`
          if (given !== undefined) {
            yield* insert(workspaceId, Redacted.value(given), "setting")
            return (yield* isLive(Redacted.value(given))) ? given : undefined
          }
          const file = join(folder, "first-key")
          const kept = readKey(file)
          if (kept !== undefined) {
            if (yield* isLive(kept)) return Redacted.make(kept)
            rmSync(file, { force: true })
          }
          const ever = yield* sql`SELECT 1 FROM api_keys WHERE origin <> 'setting' LIMIT 1`
          if (ever.length > 0) return undefined
          const key = newKey()
          // The file first: a key that is stored and shown nowhere would be lost.
          writeFileSync(file, key, { mode: 0o600 })
          yield* insert(workspaceId, key, "first")
          return Redacted.make(key)
        }, Effect.orDie)
      }
    })
  )
}

const newKey = (): string => `pk_${randomBytes(32).toString("base64url")}`

const hashOf = (key: string): string => hash("sha256", key)

const readKey = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8").trim() || undefined
  } catch {
    return undefined
  }
}

const keyRows = rowsOf("api_keys", ApiKeyInfo)

const keyOwners = rowsOf(
  "api_keys",
  Schema.Struct({ id: Schema.String, workspace_id: Schema.String, stale: Schema.Boolean })
)
