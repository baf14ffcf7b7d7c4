// What a key is called, what it may do and until when; and whether a revoked one was revoked by a person or retired because
// the setting changed. Of keys revoked before, nobody knows: they stay revoked.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `ALTER TABLE api_keys
    ADD COLUMN seq bigint GENERATED ALWAYS AS IDENTITY,
    ADD COLUMN label text NOT NULL DEFAULT '',
    ADD COLUMN scopes jsonb NOT NULL DEFAULT '["read", "manage", "speak", "call"]',
    ADD COLUMN expires_at timestamptz(3),
    ADD COLUMN retired boolean NOT NULL DEFAULT false`,
  `CREATE INDEX api_keys_newest ON api_keys (workspace_id, seq DESC)`
]

export const apiKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
