// API keys of one workspace, managed with one of them. Nobody gives what he does not have: a key that is made, rotated or
// prolonged never has a scope that the caller's lacks, and never outlives it.
import type { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyPatch } from "@parley/contract/ApiKey"
import { type BadRequest, Conflict, Forbidden, type Invalid, invalid, type NotFound } from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import type { Principal } from "@parley/contract/MainApi/Authorization"
import type { Page, PageRequest } from "@parley/contract/Page"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../storage/Database.ts"
import { readPage } from "../storage/Paging.ts"
import { finder } from "../storage/records.ts"
import { onlyRow } from "../storage/rows.ts"
import { apiKeyRows, insertKey, newKey, notRevoked, showKey } from "./ApiKeyRow.ts"

/** What a key would have. */
type Grant = Partial<Pick<ApiKeyCreate, "expires_at" | "scopes">>

/** API keys of the caller's workspace. */
export class KeyManagement extends Context.Service<
  KeyManagement,
  {
    /** Newest first; without those that were revoked. */
    readonly list: (workspace: string, request: PageRequest) => Effect.Effect<Page<ApiKey>, BadRequest>
    readonly create: (caller: Principal, input: ApiKeyCreate) => Effect.Effect<ApiKeyCreated, Forbidden | Invalid>
    readonly update: (
      caller: Principal,
      id: string,
      patch: ApiKeyPatch
    ) => Effect.Effect<ApiKey, Forbidden | Invalid | NotFound>
    /** A new key like this one, which goes on for `overlapSeconds`. A key is rotated once. */
    readonly rotate: (
      caller: Principal,
      id: string,
      overlapSeconds: number
    ) => Effect.Effect<ApiKeyCreated, Conflict | Forbidden | NotFound>
    readonly revoke: (workspace: string, id: string) => Effect.Effect<void, NotFound>
  }
>()("@parley/workspace/KeyManagement") {
  static readonly layer: Layer.Layer<KeyManagement, never, Database | SqlClient.SqlClient> = Layer.effect(
    KeyManagement,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const find = finder(sql, { table: "api_keys", noun: "API key", read: apiKeyRows, where: notRevoked(sql) })

      const insert = Effect.fnUntraced(function* (workspace: string, input: ApiKeyCreate) {
        const key = Redacted.make(newKey())
        const row = yield* Effect.orDie(onlyRow(insertKey(sql, workspace, key, "made", input)))
        return { ...showKey(row), key: Redacted.value(key) }
      })

      return {
        list: (workspace, request) =>
          readPage(sql, request, {
            from: "api_keys",
            read: apiKeyRows,
            where: [sql`workspace_id = ${workspace}`, notRevoked(sql)],
            show: showKey
          }),

        create: Effect.fn("KeyManagement.create")(function* (caller, input) {
          yield* inFuture(input.expires_at)
          yield* grantable(caller, input)
          return yield* insert(caller.workspaceId, input)
        }),

        update: Effect.fn("KeyManagement.update")(function* (caller, id, { expires_at, label }) {
          yield* find(caller.workspaceId, id)
          if (expires_at !== undefined) {
            yield* inFuture(expires_at)
            yield* grantable(caller, { expires_at })
          }
          const row = yield* apiKeyRows(sql`UPDATE api_keys SET label = coalesce(${label ?? null}, label),
              expires_at = ${expires_at === undefined ? sql`expires_at` : sql`${expires_at}::timestamptz`}
            WHERE id = ${id} RETURNING *`).pipe(onlyRow, Effect.orDie)
          return showKey(row)
        }),

        rotate: Effect.fn("KeyManagement.rotate")(
          function* (caller, id, overlapSeconds) {
            const former = yield* find(caller.workspaceId, id, "update")
            if (former.revoked_at !== null) return yield* new Conflict({ message: "The key was rotated before" })
            const { label, scopes } = former
            const expires_at = former.expires_at?.toISOString() ?? null
            yield* grantable(caller, { scopes, expires_at })
            yield* sql`UPDATE api_keys SET revoked_at = now() + make_interval(secs => ${overlapSeconds})
              WHERE id = ${id}`.pipe(Effect.orDie)
            return yield* insert(caller.workspaceId, { label, scopes, expires_at })
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        revoke: Effect.fn("KeyManagement.revoke")(function* (workspace, id) {
          yield* find(workspace, id)
          yield* sql`UPDATE api_keys SET revoked_at = now(), retired = false WHERE id = ${id}`.pipe(Effect.orDie)
        })
      }
    })
  )
}

/** Fails with Forbidden for what the caller's own key does not have. */
const grantable = Effect.fnUntraced(function* (caller: Principal, { expires_at, scopes = [] }: Grant) {
  const missing = scopes.find((scope) => !caller.scopes.includes(scope))
  if (missing !== undefined) {
    return yield* new Forbidden({ message: `This API key lacks the scope ${missing}, and cannot give it to another` })
  }
  const { expiresAt } = caller
  if (expiresAt !== null && expires_at !== undefined && !(endOf(expires_at) <= expiresAt.getTime())) {
    return yield* new Forbidden({ message: "This API key expires, and cannot let another outlive it" })
  }
})

const endOf = (expiresAt: string | null): number => (expiresAt === null ? Infinity : Date.parse(expiresAt))

const inFuture = Effect.fnUntraced(function* (expiresAt: string | null) {
  if (endOf(expiresAt) > (yield* Clock.currentTimeMillis)) return
  return yield* invalid([fault(["body", "expires_at"], "must be in the future")])
})
