// Who changed what: an entry for each change by a key, kept for 400 days. An entry outlives its key and its record.
import type { AuditEntry } from "@parley/contract/AuditEntry"
import type { BadRequest } from "@parley/contract/Errors"
import type { Principal } from "@parley/contract/MainApi/Authorization"
import type { Page, PageRequest } from "@parley/contract/Page"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../storage/Database.ts"
import { newId } from "../storage/Id.ts"
import { readPage } from "../storage/Paging.ts"
import { rowsOf } from "../storage/rows.ts"

/** What was done to which record. */
export interface AuditedChange {
  /** The operation's id. */
  readonly action: string
  readonly resource: { readonly type: string; readonly id: string } | undefined
}

const keptDays = 400

/** The audit log of every workspace. */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    readonly record: (caller: Principal, change: AuditedChange) => Effect.Effect<void>
    /** Newest first. */
    readonly list: (workspace: string, request: PageRequest) => Effect.Effect<Page<AuditEntry>, BadRequest>
    /** Forgets what is older than 400 days; how many that were. */
    readonly expire: Effect.Effect<number>
  }
>()("@parley/workspace/AuditLog") {
  static readonly layer: Layer.Layer<AuditLog, never, Database | SqlClient.SqlClient> = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      return {
        record: ({ keyId, workspaceId }, { action, resource }) =>
          sql`INSERT INTO audit_entries (id, workspace_id, key_id, key_label, action, resource_type, resource_id)
            VALUES (${newId("audit")}, ${workspaceId}, ${keyId},
              coalesce((SELECT label FROM api_keys WHERE id = ${keyId}), ''), ${action},
              ${resource?.type ?? null}, ${resource?.id ?? null})`.pipe(Effect.orDie, Effect.asVoid),

        list: (workspace, request) =>
          readPage(sql, request, {
            from: "audit_entries",
            read: auditRows,
            where: [sql`workspace_id = ${workspace}`],
            show
          }),

        expire: sql`DELETE FROM audit_entries WHERE created_at < now() - make_interval(days => ${keptDays}::int)
          RETURNING 1`.pipe(
          Effect.map((rows) => rows.length),
          Effect.orDie
        )
      }
    })
  )
}

const AuditRow = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  key_id: Schema.String,
  key_label: Schema.String,
  action: Schema.String,
  resource_type: Schema.NullOr(Schema.String),
  resource_id: Schema.NullOr(Schema.String),
  created_at: Schema.Date
})
const auditRows = rowsOf("audit_entries", AuditRow)

const show = ({ created_at, id, seq: _seq, ...entry }: typeof AuditRow.Type): AuditEntry => ({
  audit_entry_id: id,
  created_at: created_at.toISOString(),
  ...entry
})
