// Calls that a call leads to: by a REFER of ours, or placed by us for it. Each counts among the calls that its workspace
// places; the seconds of those we placed are charged with the session, in the transaction that ends it.
import type { TooManyRequests } from "@parley/contract/Errors"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Database } from "../storage/Database.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"
import { allowCall } from "./callAllowance.ts"
import type { SessionRow } from "./SessionRow.ts"

/** `refer`: the far side's carrier places it, and neither its length nor its end is known. */
type Way = "refer" | "consultation" | "refer_declined"

/** Calls that calls lead to. */
export class SecondLegs extends Context.Service<
  SecondLegs,
  {
    /** One that is about to begin; its id. Fails when the workspace may place no more. */
    readonly place: (workspace: string, sessionId: string, way: Way) => Effect.Effect<bigint, TooManyRequests>
    /** Somebody took it: from now on it costs. */
    readonly answered: (id: bigint) => Effect.Effect<void>
    readonly ended: (id: bigint) => Effect.Effect<void>
  }
>()("@parley/workspace/SecondLegs") {
  static readonly layer: Layer.Layer<SecondLegs, never, Database | SqlClient.SqlClient> = Layer.effect(
    SecondLegs,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      return {
        place: Effect.fn("SecondLegs.place")(
          function* (workspace, sessionId, way) {
            yield* allowCall(sql, workspace)
            const { id } = yield* idRows(sql`INSERT INTO second_legs (workspace_id, session_id, way, ended_at)
              VALUES (${workspace}, ${sessionId}, ${way}, ${way === "refer" ? sql`now()` : sql`NULL`})
              RETURNING id`).pipe(onlyRow)
            return id
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),
        answered: (id) =>
          sql`UPDATE second_legs SET answered_at = now() WHERE id = ${id} AND ended_at IS NULL`.pipe(
            Effect.orDie,
            Effect.asVoid
          ),
        ended: (id) =>
          sql`UPDATE second_legs SET ended_at = now() WHERE id = ${id} AND ended_at IS NULL`.pipe(
            Effect.orDie,
            Effect.asVoid
          )
      }
    })
  )
}

/**
 * The seconds of each call that the ended session had placed, to be charged now and not again. One that is still up ends
 * with the session. Part of the transaction that ends it.
 */
export const unchargedSeconds = (
  sql: SqlClient.SqlClient,
  { ended_at, id }: Pick<SessionRow, "ended_at" | "id">
): Effect.Effect<ReadonlyArray<number>, SqlError> =>
  Effect.map(
    secondRows(sql`WITH ended AS (
        UPDATE second_legs SET charged = true, ended_at = coalesce(ended_at, greatest(created_at, ${ended_at}))
        WHERE session_id = ${id} AND NOT charged RETURNING answered_at, ended_at)
      SELECT greatest(0, extract(epoch FROM ended_at - answered_at))::float8 AS seconds FROM ended
      WHERE answered_at IS NOT NULL`),
    (rows) => rows.map(({ seconds }) => seconds)
  )

const idRows = rowsOf("second_legs", Schema.Struct({ id: Schema.BigInt }))

const secondRows = rowsOf("second_legs", Schema.Struct({ seconds: Schema.Number }))
