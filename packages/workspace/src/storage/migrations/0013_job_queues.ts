// Runs of tests and revisions of documents without vectors are queues like the others: when a job is due, and until
// when somebody is at work on it.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `ALTER TABLE knowledge_revisions
    ADD COLUMN due_at timestamptz(3) NOT NULL DEFAULT now(),
    ADD COLUMN claimed_until timestamptz(3)`,
  `ALTER TABLE test_runs ADD COLUMN due_at timestamptz(3) NOT NULL DEFAULT now()`
]

export const jobQueues = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
