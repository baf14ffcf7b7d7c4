// What each chunk of a revision means, by one embedding model: the vectors of all its chunks in a row, one signed byte
// a number.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  `ALTER TABLE knowledge_revisions
    ADD COLUMN embedded_by text,
    ADD COLUMN embeddings bytea,
    ADD COLUMN created_at timestamptz(3) NOT NULL DEFAULT now()`
]

export const embeddings = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
