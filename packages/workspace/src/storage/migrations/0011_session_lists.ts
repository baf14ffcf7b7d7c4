// Lists of sessions are sorted by when they were made, so that every filter of theirs, also one by time and one that
// matches nothing, is a walk along one index.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE INDEX sessions_listed ON sessions (workspace_id, created_at DESC, seq DESC) WHERE NOT preview`,
  `CREATE INDEX sessions_by_agent ON sessions (workspace_id, agent_id, created_at DESC, seq DESC) WHERE NOT preview`,
  `CREATE INDEX sessions_by_status ON sessions (workspace_id, status, created_at DESC, seq DESC) WHERE NOT preview`,
  `CREATE INDEX sessions_by_reason ON sessions (workspace_id, end_reason, created_at DESC, seq DESC)
    WHERE NOT preview`,
  `CREATE INDEX sessions_by_direction ON sessions (workspace_id, direction, created_at DESC, seq DESC)
    WHERE NOT preview`,
  `DROP INDEX sessions_of_agent`
]

export const sessionLists = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
