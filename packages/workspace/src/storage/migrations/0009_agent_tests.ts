// Tests of agents, which agents they are attached to, and their runs. A batch keeps what it tests as it was; a run
// keeps the test as it was.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE agent_tests (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    definition jsonb NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX agent_tests_newest ON agent_tests (workspace_id, seq DESC)`,
  `CREATE TABLE attached_tests (
    agent_id text NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    test_id text NOT NULL REFERENCES agent_tests(id) ON DELETE CASCADE,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (agent_id, test_id)
  )`,
  `CREATE INDEX attached_tests_of ON attached_tests (test_id)`,
  `CREATE TABLE test_batches (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    agent_id text NOT NULL,
    agent_name text NOT NULL,
    config jsonb NOT NULL,
    config_hash text NOT NULL,
    tools jsonb NOT NULL,
    knowledge jsonb NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX test_batches_newest ON test_batches (agent_id, seq DESC)`,
  `CREATE TABLE test_runs (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    batch_id text NOT NULL REFERENCES test_batches(id) ON DELETE CASCADE,
    agent_id text NOT NULL,
    test_id text NOT NULL,
    definition jsonb NOT NULL,
    status text NOT NULL DEFAULT 'queued',
    error text,
    latency_ms integer,
    items jsonb NOT NULL DEFAULT '[]',
    expectations jsonb NOT NULL DEFAULT '[]',
    attempts integer NOT NULL DEFAULT 0,
    claimed_until timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    finished_at timestamptz(3)
  )`,
  `CREATE INDEX test_runs_newest ON test_runs (workspace_id, seq DESC)`,
  `CREATE INDEX test_runs_of_batch ON test_runs (batch_id, seq)`,
  `CREATE INDEX test_runs_open ON test_runs (seq) WHERE status IN ('queued', 'running')`
]

export const agentTests = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
