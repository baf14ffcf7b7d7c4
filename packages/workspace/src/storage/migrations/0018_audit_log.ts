// Who changed what, by API.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE audit_entries (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    key_id text NOT NULL,
    key_label text NOT NULL,
    action text NOT NULL,
    resource_type text,
    resource_id text,
    created_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX audit_entries_newest ON audit_entries (workspace_id, seq DESC)`,
  `CREATE INDEX audit_entries_age ON audit_entries (created_at)`
]

export const auditLog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
