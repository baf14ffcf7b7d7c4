// One analysis per session that somebody was connected to; queued with the session's end.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE session_analyses (
    session_id text PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    status text NOT NULL DEFAULT 'queued',
    summary text,
    data jsonb NOT NULL DEFAULT '[]',
    criteria_results jsonb NOT NULL DEFAULT '[]',
    error text,
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz(3) NOT NULL DEFAULT now(),
    claimed_until timestamptz(3),
    finished_at timestamptz(3)
  )`,
  `CREATE INDEX session_analyses_due ON session_analyses (due_at) WHERE status = 'queued'`
]

export const analysis = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
