// Session records: made, listed, looked at. Previews are kept for a day and never shown, but for their journal.
import { type BadRequest, type NotFound, notFound } from "@parley/contract/Errors"
import type { JournalEntry } from "@parley/contract/Fact"
import type { Page } from "@parley/contract/Page"
import { numberInQuery } from "@parley/contract/PhoneNumber"
import type { SessionDetail, SessionListItem, SessionQuery, SessionSource } from "@parley/contract/Session"
import { SessionAnalysis } from "@parley/contract/SessionAnalysis"
import type { TurnLatency } from "@parley/contract/TurnLatency"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { closeWindow, countWhen, openWindow } from "../storage/Paging.ts"
import { itemRows, type SessionInput, type SessionRow, sessionRows, showSession } from "./SessionRow.ts"
import { Database } from "../storage/Database.ts"
import type { Runnable } from "../agents/Versions.ts"
import { finder } from "../storage/records.ts"
import { onlyRow, rowsOf, storedJson } from "../storage/rows.ts"

/** How long a session may be joined after it was made. */
export const joinSeconds = 600

/** A session that is to be made. */
export interface NewSession {
  readonly workspaceId: string
  readonly runnable: Runnable
  readonly preview: boolean
  readonly source: SessionSource
  readonly name: string
  readonly timezone: string
  readonly endUserId: string
  readonly metadata: SessionListItem["metadata"]
  readonly input: SessionInput
  readonly maxDurationSeconds: number
  /** Of a telephone call, which rings in the process `owner`. */
  readonly phone?: {
    readonly direction: "inbound" | "outbound"
    readonly callerNumber: string
    readonly dialedNumber: string
    readonly sipCallId: string
    readonly owner: string
  }
}

/** Session records. */
export class Sessions extends Context.Service<
  Sessions,
  {
    readonly create: (input: NewSession) => Effect.Effect<SessionRow>
    readonly list: (workspace: string, query: SessionQuery) => Effect.Effect<Page<SessionListItem>, BadRequest>
    readonly get: (workspace: string, id: string) => Effect.Effect<SessionDetail, NotFound>
    /** A preview's too. */
    readonly journal: (workspace: string, id: string) => Effect.Effect<ReadonlyArray<JournalEntry>, NotFound>
    /** The bare record, previews included. */
    readonly find: (workspace: string, id: string) => Effect.Effect<SessionRow, NotFound>
  }
>()("@parley/workspace/Sessions") {
  static readonly layer: Layer.Layer<Sessions, never, Database | SqlClient.SqlClient> = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient

      const find = finder(sql, { table: "sessions", noun: "Session", read: sessionRows })

      const findShown = Effect.fnUntraced(function* (workspace: string, id: string) {
        const row = yield* find(workspace, id)
        return row.preview ? yield* notFound("Session") : row
      })

      const analysisOf = (id: string) =>
        analysisRows(sql`SELECT status, summary, data, criteria_results, finished_at, error FROM session_analyses
          WHERE session_id = ${id} AND finished_at IS NOT NULL AND status <> 'queued'`).pipe(
          Effect.map(([row]) => row && { ...row, finished_at: row.finished_at.toISOString() }),
          Effect.orDie
        )

      return {
        find,

        create: Effect.fnUntraced(function* (input) {
          const { phone, runnable } = input
          return yield* sessionRows(sql`
            INSERT INTO sessions (id, workspace_id, agent_id, agent_name, preview, version_number, config, config_hash,
              source, name, timezone, end_user_id, metadata, request, max_duration_seconds, expires_at,
              direction, caller_number, dialed_number, sip_call_id, owner)
            VALUES (${newId("session")}, ${input.workspaceId}, ${runnable.agentId}, ${runnable.agentName},
              ${input.preview}, ${runnable.versionNumber},
              ${runnable.versionNumber === null ? JSON.stringify(runnable.config) : null}::jsonb, ${runnable.configHash},
              ${input.source}, ${input.name}, ${input.timezone}, ${input.endUserId},
              ${JSON.stringify(input.metadata)}::json, ${JSON.stringify(input.input)}::jsonb,
              ${input.maxDurationSeconds}, now() + make_interval(secs => ${joinSeconds}),
              ${phone?.direction ?? "inbound"}, ${phone?.callerNumber ?? ""}, ${phone?.dialedNumber ?? ""},
              ${phone?.sipCallId ?? ""}, ${phone?.owner ?? null})
            RETURNING *`).pipe(onlyRow)
        }, Effect.orDie),

        list: Effect.fnUntraced(function* (workspace, query) {
          const window = yield* openWindow(query)
          const filter = filterOf(sql, workspace, query)
          // A shown session stays, so the one a cursor names is there.
          const keyset = window.after
            ? sql`AND (created_at, seq) < (SELECT created_at, seq FROM sessions
                WHERE workspace_id = ${workspace} AND NOT preview AND seq = ${window.after}::bigint)`
            : sql``
          const rows = yield* sessionRows(sql`SELECT * FROM sessions WHERE ${filter} ${keyset}
            ORDER BY created_at DESC, seq DESC LIMIT ${window.limit} OFFSET ${window.offset}`).pipe(Effect.orDie)
          const total = yield* countWhen(window, sql`SELECT count(*)::int AS n FROM sessions WHERE ${filter}`)
          return closeWindow(window, rows, total, (row) => row.seq, showSession)
        }),

        get: Effect.fnUntraced(function* (workspace, id) {
          const row = yield* findShown(workspace, id)
          const items = yield* itemRows(sql`SELECT item FROM session_items
            WHERE session_id = ${id} ORDER BY created_at, rank, seq`).pipe(Effect.orDie)
          const turns = yield* turnRows(sql`SELECT latency FROM session_turns
            WHERE session_id = ${id} ORDER BY seq`).pipe(Effect.orDie)
          return {
            ...showSession(row),
            end_user_id: row.end_user_id,
            items: items.map(({ item }) => item),
            analysis: (yield* analysisOf(id)) ?? null,
            latency: turns.map(({ latency }) => latency)
          }
        }),

        journal: Effect.fn("Sessions.journal")(function* (workspace, id) {
          yield* find(workspace, id)
          const rows = yield* journalRows(sql`SELECT entry FROM session_journal
            WHERE session_id = ${id} ORDER BY seq`).pipe(Effect.orDie)
          return rows.map(({ entry }) => entry)
        })
      }
    })
  )
}

const AnalysisRow = Schema.Struct({ ...SessionAnalysis.fields, finished_at: Schema.Date })
const analysisRows = rowsOf("session_analyses", AnalysisRow)

const filterOf = (sql: SqlClient.SqlClient, workspace: string, query: SessionQuery) => {
  const conditions: Array<Statement.Fragment> = [sql`workspace_id = ${workspace}`, sql`NOT preview`]
  if (query.agent_id !== undefined) conditions.push(sql`agent_id = ${query.agent_id}`)
  if (query.status !== undefined) conditions.push(sql.in("status", split(query.status)))
  if (query.end_reason !== undefined) conditions.push(sql.in("end_reason", split(query.end_reason)))
  if (query.direction !== undefined) conditions.push(sql`direction = ${query.direction}`)
  if (query.caller_number !== undefined) conditions.push(sql`caller_number = ${numberInQuery(query.caller_number)}`)
  // Phone sessions only: an empty id would match every web session.
  if (query.sip_call_id !== undefined) {
    conditions.push(sql`sip_call_id = ${query.sip_call_id}`, sql`sip_call_id <> ''`)
  }
  if (query.created_after !== undefined) conditions.push(sql`created_at >= ${moment(query.created_after)}::timestamptz`)
  if (query.created_before !== undefined)
    conditions.push(sql`created_at < ${moment(query.created_before)}::timestamptz`)
  return sql.and(conditions)
}

const split = (list: string): ReadonlyArray<string> => list.split(",").map((value) => value.trim())

const moment = (value: string): string => new Date(value).toISOString()

const turnRows = rowsOf("session_turns", Schema.Struct({ latency: storedJson<TurnLatency>() }))

const journalRows = rowsOf("session_journal", Schema.Struct({ entry: storedJson<JournalEntry>() }))
