// The outbox of webhooks: one row per event and endpoint, written with the change it tells of, sent afterwards; and
// what came of each attempt.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE webhook_deliveries (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    session_id text NOT NULL,
    event text NOT NULL,
    url text NOT NULL,
    secret text,
    body text NOT NULL,
    status text NOT NULL DEFAULT 'pending',
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz(3) NOT NULL DEFAULT now(),
    claimed_until timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    finished_at timestamptz(3)
  )`,
  `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at) WHERE status = 'pending'`,
  `CREATE INDEX webhook_deliveries_of_session ON webhook_deliveries (session_id, url, seq)`,
  `CREATE TABLE webhook_attempts (
    delivery_id text NOT NULL REFERENCES webhook_deliveries(id) ON DELETE CASCADE,
    attempt integer NOT NULL,
    sent_at timestamptz(3) NOT NULL,
    latency_ms integer NOT NULL,
    status_code integer,
    response text,
    error text,
    PRIMARY KEY (delivery_id, attempt)
  )`
]

export const webhooks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
