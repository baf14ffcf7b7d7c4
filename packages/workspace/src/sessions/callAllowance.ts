// How many calls a workspace may place, whoever places them: the API, or a call that leads to another one.
import { TooManyRequests } from "@parley/contract/Errors"
import type { PhoneCallReason } from "@parley/contract/PhoneCall"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf } from "../storage/rows.ts"

/** Calls a workspace may place in a day (UTC), and have at the same time. */
const callsADay = 200
const callsAtOnce = 10

/** Part of the transaction that stores the call: until its end nobody else of the workspace counts. */
export const allowCall = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspace: string
): Effect.fn.Return<void, TooManyRequests | SqlError> {
  yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`calls of ${workspace}`}, 0))`
  const [counted] = yield* callCounts(sql`WITH placed AS (
      SELECT created_at, status IN ('pending', 'active') AS live FROM sessions
      WHERE workspace_id = ${workspace} AND source = 'phone' AND direction = 'outbound'
        AND created_at >= date_trunc('day', now(), 'UTC') - interval '1 day'
      UNION ALL
      SELECT created_at, ended_at IS NULL FROM second_legs
      WHERE workspace_id = ${workspace} AND created_at >= date_trunc('day', now(), 'UTC') - interval '1 day')
    SELECT count(*) FILTER (WHERE created_at >= date_trunc('day', now(), 'UTC'))::int AS today,
      count(*) FILTER (WHERE live)::int AS live FROM placed`)
  const { live, today } = counted ?? { live: 0, today: 0 }
  if (today >= callsADay) {
    return yield* tooMany("daily_limit_exceeded", `A workspace may place ${callsADay} calls a day`)
  }
  if (live >= callsAtOnce) {
    return yield* tooMany("concurrency_limit_exceeded", `A workspace may place ${callsAtOnce} calls at the same time`)
  }
})

const tooMany = (reason: PhoneCallReason, message: string) => new TooManyRequests({ message, reason })

const callCounts = rowsOf("sessions", Schema.Struct({ today: Schema.Int, live: Schema.Int }))
