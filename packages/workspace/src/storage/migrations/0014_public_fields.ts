// What sessions of visitors may carry, by agent: nothing until its owner says so.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const publicFields = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE agents ADD COLUMN public_fields_allowed jsonb NOT NULL DEFAULT '[]'`
})
