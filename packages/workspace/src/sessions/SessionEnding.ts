// The end of sessions, whoever brings it about: the caller, a deadline, the death of their process. What follows from
// an end (money, events, analysis) happens in the transaction that ends it.
import { type EndReason, statusOf } from "@parley/contract/EndReason"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Billing } from "../billing/Billing.ts"
import { ProcessHeartbeats } from "../jobs/ProcessHeartbeats.ts"
import { Outbox } from "../webhooks/Outbox.ts"
import { AnalysisQueue } from "./AnalysisQueue.ts"
import { callEnded, dialFinished } from "./SessionEvent.ts"
import { type SessionRow, sessionRows } from "./SessionRow.ts"

/** How a call that we placed came to nothing. */
export type FailedDial = "busy" | "no_answer" | "failed"

/** An end that is to be stored. */
export interface Ending {
  readonly reason: EndReason
  /** ISO 8601; now when left out. */
  readonly at?: string
  /** The only state it may be ended from. */
  readonly from?: "pending" | "active" | undefined
  /** For a call that we placed and nobody took; `no_answer` when left out. */
  readonly dial?: FailedDial | undefined
}

/** Ends of sessions with what follows from them. */
export interface SessionEnding {
  /** Whether this ended it. Part of the caller's transaction. */
  readonly end: (id: string, ending: Ending) => Effect.Effect<boolean, SqlError>
  /** After the commit: what follows from an end is done at once. */
  readonly wake: Effect.Effect<unknown>
  /** Ends what belonged to processes that are gone: the reason of each. Part of the caller's transaction. */
  readonly endOrphans: Effect.Effect<ReadonlyArray<EndReason>, SqlError>
}

export const make: Effect.Effect<
  SessionEnding,
  never,
  AnalysisQueue | Billing | Outbox | ProcessHeartbeats | SqlClient.SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { living } = yield* ProcessHeartbeats
  const outbox = yield* Outbox
  const analyses = yield* AnalysisQueue
  const billing = yield* Billing

  /** The end of a conversation is charged, told, and its analysis queued; a preview's is charged. */
  const follow = Effect.fnUntraced(function* (ended: ReadonlyArray<SessionRow>) {
    for (const row of ended) {
      if (isFailedDial(row)) yield* outbox.put(row, "phone_call.dial_finished", dialFinished(row))
      if (row.status !== "completed") continue
      const seconds = row.duration_seconds ?? 0
      yield* billing.charge(row.workspace_id, { kind: "agent", seconds }, row.id)
      if (row.source === "phone") yield* billing.charge(row.workspace_id, { kind: "phone", seconds }, row.id)
      if (row.preview) continue
      yield* outbox.put(row, "call.ended", callEnded(row))
      yield* analyses.put(row)
    }
  })

  return {
    wake: Effect.andThen(outbox.queue.wakeUp.open, analyses.wake),

    end: Effect.fnUntraced(function* (id, { at = null, dial = "no_answer", from = null, reason }) {
      const rows = yield* sessionRows(sql`UPDATE sessions SET
          status = ${statusOf(reason)}, end_reason = ${reason}, dial_status = CASE
            WHEN source = 'phone' AND direction = 'outbound' THEN coalesce(dial_status, ${dial}) ELSE dial_status END,
          ended_at = greatest(coalesce(${at}::timestamptz(3), now()), coalesce(started_at, created_at)),
          started_at = CASE ${statusOf(reason)}::text WHEN 'failed' THEN NULL ELSE started_at END,
          duration_seconds = CASE WHEN started_at IS NULL OR ${statusOf(reason)}::text = 'failed' THEN NULL ELSE
            greatest(0, round(extract(epoch FROM coalesce(${at}::timestamptz, now()) - started_at)))::int END
        WHERE id = ${id} AND status IN ('pending', 'active') AND status = coalesce(${from}, status)
        RETURNING *`)
      yield* follow(rows)
      return rows.length > 0
    }),

    endOrphans: Effect.gen(function* () {
      const lost = yield* sessionRows(sql`UPDATE sessions SET status = 'completed', end_reason = 'internal_error',
          ended_at = coalesce(last_fact_at, started_at),
          duration_seconds = round(extract(epoch FROM coalesce(last_fact_at, started_at) - started_at))::int
        WHERE status = 'active' AND owner NOT IN (${living}) RETURNING *`)
      const rang = yield* sessionRows(sql`UPDATE sessions SET status = 'failed', ended_at = now(),
          end_reason = CASE direction WHEN 'outbound' THEN 'dial_failed' ELSE 'cancelled' END,
          dial_status = CASE direction WHEN 'outbound' THEN 'failed' END
        WHERE status = 'pending' AND source = 'phone' AND (owner NOT IN (${living}) OR expires_at <= now())
        RETURNING *`)
      const ended = [...lost, ...rang]
      yield* follow(ended)
      return ended.flatMap(({ end_reason }) => end_reason ?? [])
    })
  }
})

const isFailedDial = (row: SessionRow): boolean =>
  row.status === "failed" && row.source === "phone" && row.direction === "outbound"
