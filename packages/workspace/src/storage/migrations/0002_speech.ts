// Money: prices, wallets, what was used and what was paid, all in whole nano-units. Voice models and the recordings
// they were made from; the bytes themselves are blobs.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE prices (
    name text PRIMARY KEY,
    amount_nano bigint NOT NULL CHECK (amount_nano >= 0),
    per bigint NOT NULL CHECK (per > 0),
    piece text NOT NULL
  )`,
  `INSERT INTO prices (name, amount_nano, per, piece) VALUES
    ('tts', 15000000000, 1000000, 'byte'),
    ('tts:s2.1-pro-free', 0, 1000000, 'byte'),
    ('asr', 360000000, 3600, 'second'),
    ('voice_design', 10000000, 1, 'request'),
    ('agent', 60000000, 60, 'second'),
    ('phone', 10000000, 60, 'second'),
    ('phone_number', 1200000000, 1, 'month'),
    ('cold_transfer', 15000000, 60, 'second'),
    ('warm_transfer', 25000000, 60, 'second')`,
  `CREATE TABLE wallets (
    workspace_id text PRIMARY KEY REFERENCES workspaces(id),
    id text NOT NULL UNIQUE,
    granted_nano bigint NOT NULL,
    topped_up_nano bigint NOT NULL DEFAULT 0,
    spent_nano bigint NOT NULL DEFAULT 0,
    concurrency integer CHECK (concurrency > 0),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE usage_entries (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    kind text NOT NULL,
    model text NOT NULL,
    quantity bigint NOT NULL,
    cost_nano bigint NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX usage_of_workspace ON usage_entries (workspace_id, seq DESC)`,
  `CREATE TABLE credit_entries (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    amount_nano bigint NOT NULL,
    note text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE voice_models (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL REFERENCES workspaces(id),
    title text NOT NULL,
    description text NOT NULL,
    visibility text NOT NULL,
    tags jsonb NOT NULL,
    languages jsonb NOT NULL,
    source text,
    cover text,
    cover_type text,
    default_text text NOT NULL,
    profile jsonb,
    quality jsonb NOT NULL,
    samples jsonb NOT NULL DEFAULT '[]',
    task_count integer NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX voice_models_newest ON voice_models (workspace_id, seq DESC)`,
  `CREATE TABLE voice_references (
    model_id text NOT NULL REFERENCES voice_models(id) ON DELETE CASCADE,
    position smallint NOT NULL,
    blob text NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (model_id, position)
  )`
]

export const speech = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
