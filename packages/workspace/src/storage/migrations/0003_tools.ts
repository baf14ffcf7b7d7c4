// Tools of a workspace, and the tools a version was published with. A draft names its tools within its
// configuration; the index answers which drafts name one.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE tools (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    name text NOT NULL,
    definition jsonb NOT NULL,
    content_hash text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX tools_newest ON tools (workspace_id, seq DESC)`,
  `CREATE INDEX agents_tools ON agents USING gin ((draft->'tools'->'tool_ids')) WHERE deleted_at IS NULL`,
  `ALTER TABLE agent_versions ADD COLUMN tools jsonb NOT NULL DEFAULT '[]'`
]

export const tools = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
