// Knowledge sources, every revision of their text, and its chunks with what they are found by. A revision outlives
// its source for as long as a version names it. A version names its revisions in `knowledge`.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE knowledge_sources (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    name text NOT NULL,
    description text NOT NULL,
    file_name text NOT NULL,
    size_bytes integer NOT NULL,
    chunk_count integer NOT NULL,
    revision_number integer NOT NULL DEFAULT 1,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX knowledge_sources_newest ON knowledge_sources (workspace_id, seq DESC)`,
  `CREATE TABLE knowledge_revisions (
    source_id text NOT NULL,
    revision_number integer NOT NULL,
    language regconfig NOT NULL,
    size_bytes integer NOT NULL,
    content text NOT NULL,
    superseded_at timestamptz(3),
    PRIMARY KEY (source_id, revision_number)
  )`,
  `CREATE TABLE knowledge_chunks (
    source_id text NOT NULL,
    revision_number integer NOT NULL,
    position integer NOT NULL,
    heading text NOT NULL,
    content text NOT NULL,
    search tsvector NOT NULL,
    PRIMARY KEY (source_id, revision_number, position),
    FOREIGN KEY (source_id, revision_number) REFERENCES knowledge_revisions ON DELETE CASCADE
  )`,
  `CREATE INDEX knowledge_chunks_search ON knowledge_chunks USING gin (search)`,
  `ALTER TABLE agent_versions ADD COLUMN knowledge jsonb NOT NULL DEFAULT '[]'`,
  `CREATE INDEX agent_versions_knowledge ON agent_versions USING gin (knowledge jsonb_path_ops)`,
  `CREATE INDEX agents_knowledge ON agents USING gin ((draft->'knowledge_base'->'knowledge_source_ids'))
    WHERE deleted_at IS NULL`
]

export const knowledge = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
