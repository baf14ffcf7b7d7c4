// MCP servers of a workspace, and those a version was published with. A draft names its servers within its
// configuration; the index answers which drafts name one.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE mcp_servers (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    name text NOT NULL,
    definition jsonb NOT NULL,
    content_hash text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX mcp_servers_newest ON mcp_servers (workspace_id, seq DESC)`,
  `CREATE INDEX agents_mcp_servers ON agents USING gin ((draft->'tools'->'mcp_server_ids')) WHERE deleted_at IS NULL`,
  `ALTER TABLE agent_versions ADD COLUMN mcp_servers jsonb NOT NULL DEFAULT '[]'`
]

export const mcpServers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
