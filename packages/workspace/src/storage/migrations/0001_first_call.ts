// Workspaces, keys, agents, sessions. Lists are sorted by `seq`, which unlike a moment is never shared.
// What belongs to a deleted agent stays: its sessions outlive it.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE workspaces (
    id text PRIMARY KEY,
    name text NOT NULL UNIQUE,
    created_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE api_keys (
    id text PRIMARY KEY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    hash text NOT NULL UNIQUE,
    hint text NOT NULL,
    origin text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    last_used_at timestamptz(3),
    revoked_at timestamptz(3)
  )`,
  `CREATE TABLE settings (name text PRIMARY KEY, value text NOT NULL)`,
  `CREATE TABLE agents (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    name text NOT NULL,
    description text NOT NULL,
    status text NOT NULL DEFAULT 'active',
    public_enabled boolean NOT NULL DEFAULT false,
    allowed_origins jsonb NOT NULL DEFAULT '[]',
    overrides_allowed jsonb NOT NULL DEFAULT '[]',
    draft jsonb NOT NULL,
    draft_hash text NOT NULL,
    draft_updated_at timestamptz(3) NOT NULL DEFAULT now(),
    live_version integer,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    deleted_at timestamptz(3)
  )`,
  `CREATE INDEX agents_newest ON agents (workspace_id, seq DESC) WHERE deleted_at IS NULL`,
  `CREATE TABLE agent_versions (
    agent_id text NOT NULL REFERENCES agents(id),
    version_number integer NOT NULL,
    title text,
    description text,
    config jsonb NOT NULL,
    config_hash text NOT NULL,
    published_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (agent_id, version_number)
  )`,
  `CREATE TABLE processes (
    id text PRIMARY KEY,
    seen_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE sessions (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    agent_id text NOT NULL,
    agent_name text NOT NULL,
    preview boolean NOT NULL DEFAULT false,
    version_number integer,
    config jsonb,
    config_hash text NOT NULL,
    status text NOT NULL DEFAULT 'pending',
    source text NOT NULL,
    name text NOT NULL DEFAULT '',
    end_reason text,
    direction text NOT NULL DEFAULT 'inbound',
    dial_status text,
    answered_by text,
    caller_number text NOT NULL DEFAULT '',
    dialed_number text NOT NULL DEFAULT '',
    sip_call_id text NOT NULL DEFAULT '',
    timezone text NOT NULL,
    end_user_id text NOT NULL DEFAULT '',
    metadata json NOT NULL DEFAULT '{}',
    request jsonb NOT NULL DEFAULT '{}',
    max_duration_seconds integer NOT NULL,
    owner text,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    started_at timestamptz(3),
    ended_at timestamptz(3),
    last_fact_at timestamptz(3),
    duration_seconds integer
  )`,
  `CREATE INDEX sessions_newest ON sessions (workspace_id, seq DESC) WHERE NOT preview`,
  `CREATE INDEX sessions_of_agent ON sessions (agent_id, seq DESC)`,
  `CREATE INDEX sessions_pending ON sessions (expires_at) WHERE status = 'pending'`,
  `CREATE INDEX sessions_active ON sessions (owner) WHERE status = 'active'`,
  `CREATE INDEX sessions_sip_call ON sessions (workspace_id, sip_call_id) WHERE sip_call_id <> ''`,
  `CREATE INDEX sessions_caller ON sessions (workspace_id, caller_number) WHERE caller_number <> ''`,
  `CREATE TABLE session_items (
    session_id text NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    key text NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    rank smallint NOT NULL,
    created_at timestamptz(3) NOT NULL,
    item jsonb NOT NULL,
    PRIMARY KEY (session_id, key)
  )`,
  `CREATE TABLE session_turns (
    session_id text NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    turn_id text NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    latency jsonb NOT NULL,
    PRIMARY KEY (session_id, turn_id)
  )`,
  `CREATE TABLE session_journal (
    session_id text NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    entry jsonb NOT NULL,
    PRIMARY KEY (session_id, seq)
  )`
]

export const firstCall = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
