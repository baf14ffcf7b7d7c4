// A session's way through its states: pending -> active -> completed, or pending -> failed. A telephone call is pending
// while it rings; how an outbound dial resolved is told in the transaction that resolves it. Each step is one
// conditional UPDATE, so it happens once whoever asks. Facts of a live call are stored here, batch by batch, each
// batch whole or not at all; an item told again replaces the one of its key.
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { type EndReason, statusOf } from "@parley/contract/EndReason"
import { Conflict } from "@parley/contract/Errors"
import type { Fact } from "@parley/contract/Fact"
import type { SessionItem } from "@parley/contract/SessionItem"
import type { DynamicVariables } from "@parley/contract/SessionRequest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { decodeConfig } from "../agents/Agents.ts"
import { Analyses } from "../analysis/Analyses.ts"
import { ProcessHeartbeats } from "../jobs/ProcessHeartbeats.ts"
import { countEnded } from "./EndedSessions.ts"
import { type CallKnowledge, findSources, knowledgeFor, type PinnedSource } from "../knowledge/PinnedKnowledge.ts"
import { Billing } from "../billing/Billing.ts"
import { decodeMcpServer, pinMcp, type RunnableMcpServer } from "../mcp/PinnedMcp.ts"
import type { SessionRow } from "./SessionRow.ts"
import { Database } from "../storage/Database.ts"
import { storableJson } from "../storage/storableJson.ts"
import { pinTools } from "../tools/PinnedTools.ts"
import { decodeTool, type RunnableTool } from "../tools/ToolRow.ts"
import { Outbox } from "../webhooks/Outbox.ts"
import { callEnded, dialFinished } from "../webhooks/SessionEvent.ts"

/** A session that someone has just joined, with the configuration it runs (secrets sealed). */
export interface ClaimedSession {
  readonly row: SessionRow
  readonly config: StoredConfig
  /** In the order the configuration names them. */
  readonly tools: ReadonlyArray<RunnableTool>
  readonly knowledge: CallKnowledge
  /** To be asked for their tools. */
  readonly mcpServers: ReadonlyArray<RunnableMcpServer>
}

/** Whose a call is. */
export interface Tenant {
  readonly workspaceId: string
  readonly agentId: string
}

/** How a call that we placed came to nothing. */
export type FailedDial = "busy" | "no_answer" | "failed"

export class SessionLife extends Context.Service<
  SessionLife,
  {
    /** Joins, once: fails with Conflict when it is not pending, over its deadline, or unknown. */
    readonly claim: (id: string) => Effect.Effect<ClaimedSession, Conflict>
    /** What a telephone call that still rings will run, so that nothing is left to be read once it is answered. */
    readonly prepare: (row: SessionRow) => Effect.Effect<ClaimedSession>
    /** A telephone call that rang is up, once: false when it is over. Variables replace the session's. */
    readonly answered: (
      id: string,
      call: { readonly sipCallId: string; readonly dynamicVariables?: DynamicVariables }
    ) => Effect.Effect<boolean>
    /** Whose session it is, when `claim` would succeed now. */
    readonly pending: (id: string) => Effect.Effect<Tenant | undefined>
    /** What a live call told, in order. `CallEnded` settles the session. Of a preview only the journal is kept. */
    readonly record: (id: string, facts: ReadonlyArray<Fact>) => Effect.Effect<void>
    /**
     * Ends it, if it has not ended. `from` limits what it may be ended from; `dial` is for a call that we placed and
     * nobody took, `no_answer` when left out. True when this call ended it.
     */
    readonly settle: (
      id: string,
      reason: EndReason,
      from?: "pending" | "active",
      dial?: FailedDial
    ) => Effect.Effect<boolean>
    /** Pending sessions over their deadline become failed, room_join_timeout. Returns how many. */
    readonly expire: Effect.Effect<number>
    /**
     * Active sessions of processes that are gone become completed, internal_error, at their last known fact; telephone
     * calls that rang there become failed. Returns how many.
     */
    readonly settleOrphans: Effect.Effect<number>
  }
>()("@parley/workspace/SessionLife") {
  static readonly layer: Layer.Layer<
    SessionLife,
    never,
    Analyses | ProcessHeartbeats | Database | Billing | Outbox | SqlClient.SqlClient
  > = Layer.effect(
    SessionLife,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const heartbeats = yield* ProcessHeartbeats

      const outbox = yield* Outbox
      const analyses = yield* Analyses
      const billing = yield* Billing

      /** The end of a conversation is charged, told, and its analysis queued, in the transaction that ends it. */
      const tell = Effect.fnUntraced(function* (ended: ReadonlyArray<SessionRow>) {
        for (const row of ended) {
          if (isFailedDial(row)) yield* outbox.put(row, "phone_call.dial_finished", dialFinished(row))
          if (row.status !== "completed" || row.preview) continue
          const seconds = row.duration_seconds ?? 0
          yield* billing.charge(row.workspace_id, { kind: "agent", seconds })
          if (row.source === "phone") yield* billing.charge(row.workspace_id, { kind: "phone", seconds })
          yield* outbox.put(row, "call.ended", callEnded(row))
          yield* sql`INSERT INTO session_analyses (session_id, workspace_id) VALUES (${row.id}, ${row.workspace_id})
              ON CONFLICT DO NOTHING`
        }
        yield* analyses.wakeUp.open
      })

      const settleAt = Effect.fnUntraced(function* (
        id: string,
        reason: EndReason,
        at: string | null,
        from?: string,
        dial: FailedDial = "no_answer"
      ) {
        const rows = yield* sql<SessionRow>`UPDATE sessions SET
            status = ${statusOf(reason)}, end_reason = ${reason}, dial_status = CASE
              WHEN source = 'phone' AND direction = 'outbound' THEN coalesce(dial_status, ${dial}) ELSE dial_status END,
            ended_at = greatest(coalesce(${at}::timestamptz(3), now()), coalesce(started_at, created_at)),
            duration_seconds = CASE WHEN started_at IS NULL THEN NULL ELSE
              greatest(0, round(extract(epoch FROM coalesce(${at}::timestamptz, now()) - started_at)))::int END
          WHERE id = ${id} AND status IN ('pending', 'active') AND status = coalesce(${from ?? null}, status)
          RETURNING *`
        yield* tell(rows)
        return rows.length > 0
      })

      const store = Effect.fnUntraced(function* (id: string, facts: ReadonlyArray<Fact>) {
        const rows = yield* sql<{ preview: boolean }>`UPDATE sessions SET last_fact_at = now() WHERE id = ${id}
          RETURNING preview`
        if (rows[0] !== undefined) {
          const { entries, items, turns } = sortFacts(facts)
          const { preview } = rows[0]
          if (items.length > 0 && !preview) {
            yield* sql`INSERT INTO session_items (session_id, key, rank, created_at, item)
              SELECT ${id}, f->>'key', (f->>'rank')::smallint, (f->>'at')::timestamptz, f->'item'
              FROM jsonb_array_elements(${storableJson(items)}::jsonb) WITH ORDINALITY AS told(f, n) ORDER BY n
              ON CONFLICT (session_id, key) DO UPDATE SET item = excluded.item`
          }
          if (turns.length > 0 && !preview) {
            yield* sql`INSERT INTO session_turns (session_id, turn_id, latency)
              SELECT ${id}, f->>'turn_id', f FROM jsonb_array_elements(${storableJson(turns)}::jsonb)
                WITH ORDINALITY AS told(f, n) ORDER BY n
              ON CONFLICT (session_id, turn_id) DO UPDATE SET latency = excluded.latency`
          }
          if (entries.length > 0) {
            yield* sql`INSERT INTO session_journal (session_id, entry)
              SELECT ${id}, f FROM jsonb_array_elements(${storableJson(entries)}::jsonb)
                WITH ORDINALITY AS told(f, n) ORDER BY n`
          }
        }
        const end = facts.find((fact) => fact._tag === "CallEnded")
        return end !== undefined && (yield* settleAt(id, end.reason, end.at)) ? end.reason : undefined
      })

      /** The version it runs, with its tools and what it knows; of a preview the draft it was made from. */
      const prepare = Effect.fnUntraced(function* (row: SessionRow) {
        if (row.config !== null) {
          const config = decodeConfig(row.config)
          const { tools } = yield* pinTools(sql, row.workspace_id, config.tools.tool_ids, row.config_hash)
          const { knowledge_base } = config
          const pinned = yield* findSources(sql, row.workspace_id, knowledge_base.knowledge_source_ids)
          const ids = config.tools.mcp_server_ids ?? []
          const { mcpServers } = yield* pinMcp(sql, row.workspace_id, ids, row.config_hash)
          return { row, config, tools, knowledge: yield* knowledgeFor(sql, knowledge_base, pinned), mcpServers }
        }
        const versions = yield* sql<{
          config: unknown
          tools: ReadonlyArray<{ readonly tool_id: string; readonly definition: unknown }>
          knowledge: ReadonlyArray<PinnedSource>
          mcp_servers: ReadonlyArray<{ readonly mcp_server_id: string; readonly definition: unknown }>
        }>`
          SELECT config, tools, knowledge, mcp_servers FROM agent_versions
          WHERE agent_id = ${row.agent_id} AND version_number = ${row.version_number}`.pipe(Effect.orDie)
        const tools = (versions[0]?.tools ?? []).map(({ definition, tool_id }) => ({
          tool_id,
          definition: decodeTool(definition)
        }))
        const config = decodeConfig(versions[0]?.config)
        const knowledge = yield* knowledgeFor(sql, config.knowledge_base, versions[0]?.knowledge ?? [])
        const mcpServers = (versions[0]?.mcp_servers ?? []).map(({ definition, mcp_server_id }) => ({
          mcp_server_id,
          definition: decodeMcpServer(definition)
        }))
        return { row, config, tools, knowledge, mcpServers }
      })

      return {
        claim: Effect.fn("SessionLife.claim")(function* (id) {
          const rows = yield* sql<SessionRow>`UPDATE sessions
            SET status = 'active', started_at = now(), last_fact_at = now(), owner = ${heartbeats.processId}
            WHERE id = ${id} AND status = 'pending' AND expires_at > now() RETURNING *`.pipe(Effect.orDie)
          const row = rows[0]
          if (row === undefined) return yield* new Conflict({ message: "The session cannot be joined" })
          return yield* prepare(row)
        }),

        prepare,

        answered: Effect.fn("SessionLife.answered")(
          function* (id, { dynamicVariables, sipCallId }) {
            const variables = dynamicVariables === undefined ? null : JSON.stringify(dynamicVariables)
            const rows = yield* sql<SessionRow>`UPDATE sessions SET status = 'active', started_at = now(),
              last_fact_at = now(), owner = ${heartbeats.processId}, sip_call_id = ${sipCallId},
              dial_status = CASE direction WHEN 'outbound' THEN 'answered' END,
              answered_by = CASE direction WHEN 'outbound' THEN 'unknown' END,
              request = CASE WHEN ${variables}::jsonb IS NULL THEN request
                ELSE jsonb_set(request, '{dynamicVariables}', ${variables}::jsonb) END
            WHERE id = ${id} AND source = 'phone' AND status = 'pending' RETURNING *`
            const row = rows[0]
            if (row?.direction === "outbound") {
              yield* outbox.put(row, "phone_call.dial_finished", dialFinished(row))
            }
            return row !== undefined
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.orDie)
        ),

        pending: (id) =>
          sql<Pick<SessionRow, "workspace_id" | "agent_id">>`SELECT workspace_id, agent_id FROM sessions
            WHERE id = ${id} AND status = 'pending' AND expires_at > now()`.pipe(
            Effect.map(([row]) => row && { workspaceId: row.workspace_id, agentId: row.agent_id }),
            Effect.orDie
          ),

        record: (id, facts) =>
          facts.length === 0
            ? Effect.void
            : sql.withTransaction(store(id, facts)).pipe(
                Effect.flatMap((ended) => (ended === undefined ? Effect.void : countEnded(ended))),
                Effect.orDie,
                Effect.withSpan("SessionLife.record")
              ),

        settle: (id, reason, from, dial) =>
          sql.withTransaction(settleAt(id, reason, null, from, dial)).pipe(
            Effect.tap((ended) => (ended ? countEnded(reason) : Effect.void)),
            Effect.orDie,
            Effect.withSpan("SessionLife.settle")
          ),

        expire: sql`UPDATE sessions SET status = 'failed', end_reason = 'room_join_timeout', ended_at = expires_at
          WHERE status = 'pending' AND source <> 'phone' AND expires_at <= now() RETURNING id`.pipe(
          Effect.map((rows) => rows.length),
          Effect.tap((expired) => countEnded("room_join_timeout", expired)),
          Effect.orDie
        ),

        settleOrphans: Effect.gen(function* () {
          yield* sql`DELETE FROM sessions WHERE preview AND ended_at < now() - interval '1 day'`
          const rows = yield* sql<SessionRow>`UPDATE sessions SET status = 'completed', end_reason = 'internal_error',
              ended_at = coalesce(last_fact_at, started_at),
              duration_seconds = round(extract(epoch FROM coalesce(last_fact_at, started_at) - started_at))::int
            WHERE status = 'active' AND owner NOT IN (${heartbeats.living}) RETURNING *`
          const rang = yield* sql<SessionRow>`UPDATE sessions SET status = 'failed', ended_at = now(),
              end_reason = CASE direction WHEN 'outbound' THEN 'dial_failed' ELSE 'cancelled' END,
              dial_status = CASE direction WHEN 'outbound' THEN 'failed' END
            WHERE status = 'pending' AND source = 'phone' AND (owner NOT IN (${heartbeats.living})
              OR expires_at <= now()) RETURNING *`
          yield* tell([...rows, ...rang])
          return { lost: rows.length, rang }
        }).pipe(
          sql.withTransaction,
          Effect.tap(({ lost, rang }) =>
            Effect.all([
              countEnded("internal_error", lost),
              ...rang.map(({ end_reason }) => countEnded(end_reason ?? "cancelled"))
            ])
          ),
          Effect.map(({ lost, rang }) => lost + rang.length),
          Effect.orDie
        )
      }
    })
  )
}

const isFailedDial = (row: SessionRow): boolean =>
  row.status === "failed" && row.source === "phone" && row.direction === "outbound"

/** Of facts with one key the last counts: one statement cannot touch a row twice. */
const sortFacts = (facts: ReadonlyArray<Fact>) => {
  const items = new Map<string, object>()
  const turns = new Map<string, object>()
  const entries: Array<object> = []
  for (const fact of facts) {
    if (fact._tag === "ItemRecorded") {
      const key = keyOf(fact.item)
      items.set(key, { key, rank: rank[fact.item.type], at: fact.item.created_at, item: fact.item })
    } else if (fact._tag === "TurnMeasured") {
      turns.set(fact.latency.turn_id, fact.latency)
    } else if (fact._tag === "Journaled") {
      entries.push(fact.entry)
    }
  }
  return { items: [...items.values()], turns: [...turns.values()], entries }
}

const rank = { message: 0, tool_call: 1, tool_result: 2 } as const

const keyOf = (item: SessionItem): string =>
  item.type === "message" ? `message/${item.id}` : `${item.type}/${item.call_id}`
