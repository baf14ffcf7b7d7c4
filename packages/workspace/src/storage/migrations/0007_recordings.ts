// One row per recorded track of a session; its sound is a blob. Unfinished ones are looked for all the time.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `CREATE TABLE recording_tracks (
    id text PRIMARY KEY,
    session_id text NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    role text NOT NULL,
    status text NOT NULL DEFAULT 'active',
    blob text NOT NULL,
    started_at timestamptz(3) NOT NULL,
    ended_at timestamptz(3),
    duration_ms integer,
    error_code text,
    UNIQUE (session_id, role)
  )`,
  `CREATE INDEX recording_tracks_unfinished ON recording_tracks (session_id) WHERE status = 'active'`,
  `CREATE INDEX recording_tracks_ended ON recording_tracks (ended_at)`
]

export const recordings = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
