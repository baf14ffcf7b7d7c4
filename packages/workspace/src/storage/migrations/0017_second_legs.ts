// Calls that calls lead to are kept, counted and charged. A number may be imported by several workspaces: which import a
// call belongs to is said by the trunk that admits it; bought numbers stay on the platform once.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE second_legs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    session_id text NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    way text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    answered_at timestamptz(3),
    ended_at timestamptz(3),
    charged boolean NOT NULL DEFAULT false
  )`,
  `CREATE INDEX second_legs_of_workspace ON second_legs (workspace_id, created_at)`,
  `CREATE INDEX second_legs_of_session ON second_legs (session_id)`,
  `DROP INDEX phone_numbers_once`,
  `CREATE UNIQUE INDEX phone_numbers_bought_once ON phone_numbers (phone_number)
    WHERE provider <> 'sip' AND status IN ('provisioning', 'active')`,
  `CREATE UNIQUE INDEX phone_numbers_once_a_workspace ON phone_numbers (phone_number, workspace_id)
    WHERE status IN ('provisioning', 'active')`,
  `CREATE INDEX phone_numbers_imported ON phone_numbers (workspace_id, created_at) WHERE provider = 'sip'`
]

export const secondLegs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
