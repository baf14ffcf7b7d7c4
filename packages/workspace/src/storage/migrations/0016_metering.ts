// Work is charged while it runs: an entry of usage belongs to a work, grows with it, and remembers what it cost before
// its last change, which is what the wallet was moved by. Tests and analyses cost what the agent costs. Sessions are
// found by their end, for what is kept for so many days only, and by their end user.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `ALTER TABLE usage_entries
    ADD COLUMN work text,
    ADD COLUMN revision integer NOT NULL DEFAULT 0,
    ADD COLUMN previous_nano bigint NOT NULL DEFAULT 0`,
  `CREATE UNIQUE INDEX usage_of_work ON usage_entries (work, kind) WHERE work IS NOT NULL`,
  `INSERT INTO prices (name, amount_nano, per, piece)
    SELECT name, amount_nano, per, piece FROM (VALUES ('agent_test'), ('analysis')) AS kinds(name),
      (SELECT amount_nano, per, piece FROM prices WHERE prices.name = 'agent') AS agent
    ON CONFLICT DO NOTHING`,
  `CREATE INDEX sessions_ended ON sessions (ended_at, seq) WHERE ended_at IS NOT NULL`,
  `CREATE INDEX sessions_of_end_user ON sessions (workspace_id, end_user_id) WHERE end_user_id <> ''`,
  `CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL`
]

export const metering = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
