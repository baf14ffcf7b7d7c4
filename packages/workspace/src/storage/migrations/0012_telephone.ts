// The telephone: numbers of workspaces, the operator's inventory they are bought from, keys that keep a call from being
// placed twice, and what was said between the peers of a call. A number is on the platform once; one that is released
// or failed leaves its place free. A number's price is counted by the day, a month being thirty.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE phone_numbers (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    phone_number text NOT NULL,
    provider text NOT NULL,
    agent_id text,
    status text NOT NULL,
    status_detail text NOT NULL DEFAULT '',
    label text NOT NULL,
    trunk jsonb,
    use_original_caller boolean,
    effective_original_caller boolean,
    caller_id_sync_status text NOT NULL,
    caller_id_sync_error text NOT NULL DEFAULT '',
    billed_until timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE UNIQUE INDEX phone_numbers_once ON phone_numbers (phone_number) WHERE status IN ('provisioning', 'active')`,
  `CREATE INDEX phone_numbers_newest ON phone_numbers (workspace_id, seq DESC) WHERE status <> 'released'`,
  `CREATE INDEX phone_numbers_of_agent ON phone_numbers (agent_id) WHERE agent_id IS NOT NULL`,
  `CREATE INDEX phone_numbers_billed ON phone_numbers (billed_until) WHERE billed_until IS NOT NULL`,
  `CREATE TABLE number_inventory (
    phone_number text PRIMARY KEY,
    friendly_name text NOT NULL,
    locality text NOT NULL,
    region text NOT NULL,
    country_code text NOT NULL,
    trunk jsonb NOT NULL,
    original_caller boolean NOT NULL,
    taken boolean NOT NULL DEFAULT false,
    created_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE phone_call_keys (
    workspace_id text NOT NULL REFERENCES workspaces(id),
    key text NOT NULL,
    body_hash text NOT NULL,
    session_id text,
    claimed_until timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, key)
  )`,
  `CREATE TABLE session_ladders (
    session_id text PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
    ladder jsonb NOT NULL
  )`,
  `CREATE INDEX sessions_placed ON sessions (workspace_id, created_at)
    WHERE source = 'phone' AND direction = 'outbound'`,
  `CREATE INDEX sessions_ringing ON sessions (owner) WHERE source = 'phone' AND status = 'pending'`,
  `ALTER TABLE workspaces ADD COLUMN outbound_calls boolean NOT NULL DEFAULT true`,
  `UPDATE prices SET per = per * 30, piece = 'day' WHERE name = 'phone_number' AND piece = 'month'`
]

export const telephone = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
