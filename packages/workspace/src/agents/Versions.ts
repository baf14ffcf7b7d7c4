// Published versions: immutable, numbered from 1. Publishing a draft that equals the live version makes no new one.
// Sessions run the live version with its tools and knowledge as they were; a version stays readable for them after its agent is gone.
import type { Publish, Version, VersionSummary } from "@parley/contract/Agent"
import { redactConfig, type StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { type BadRequest, Conflict, type NotFound, notFound } from "@parley/contract/Errors"
import type { Page, PageRequest } from "@parley/contract/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type AgentRow, decodeConfig } from "./Agents.ts"
import { pinKnowledge } from "../knowledge/PinnedKnowledge.ts"
import { pinMcp } from "../mcp/PinnedMcp.ts"
import { closeWindow, openWindow } from "../storage/Paging.ts"
import { Database } from "../storage/Database.ts"
import { pinTools } from "../tools/PinnedTools.ts"

/** What a session runs, with the secrets sealed as stored. */
export interface Runnable {
  readonly agentId: string
  readonly agentName: string
  readonly overridesAllowed: ReadonlyArray<string>
  /** Null for a draft. */
  readonly versionNumber: number | null
  readonly config: StoredConfig
  readonly configHash: string
}

export class Versions extends Context.Service<
  Versions,
  {
    readonly publish: (workspace: string, agentId: string, input: Publish) => Effect.Effect<VersionSummary, NotFound>
    readonly list: (
      workspace: string,
      agentId: string,
      page: PageRequest
    ) => Effect.Effect<Page<VersionSummary>, NotFound | BadRequest>
    /** @param number as it stands in the path; anything but an integer is not found. */
    readonly get: (workspace: string, agentId: string, number: string) => Effect.Effect<Version, NotFound>
    /** Fails with Conflict when the agent was never published. */
    readonly live: (workspace: string, agentId: string) => Effect.Effect<Runnable, NotFound | Conflict>
    readonly draft: (workspace: string, agentId: string) => Effect.Effect<Runnable, NotFound>
  }
>()("@parley/workspace/Versions") {
  static readonly layer: Layer.Layer<Versions, never, Database | SqlClient.SqlClient> = Layer.effect(
    Versions,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient

      const findAgent = Effect.fnUntraced(function* (workspace: string, id: string, forUpdate = false) {
        const lock = forUpdate ? sql`FOR UPDATE` : sql``
        const rows = yield* sql<AgentRow>`SELECT * FROM agents
          WHERE id = ${id} AND workspace_id = ${workspace} AND deleted_at IS NULL ${lock}`.pipe(Effect.orDie)
        const row = rows[0]
        return row === undefined ? yield* notFound("Agent") : row
      })

      const pin = Effect.fnUntraced(function* ({ draft, draft_hash, workspace_id }: AgentRow) {
        const { knowledge_base, tools } = decodeConfig(draft)
        const pinned = yield* pinTools(sql, workspace_id, tools.tool_ids, draft_hash)
        const ids = knowledge_base.knowledge_source_ids
        const known = yield* pinKnowledge(sql, workspace_id, ids, pinned.hash)
        return { ...pinned, ...known, ...(yield* pinMcp(sql, workspace_id, tools.mcp_server_ids ?? [], known.hash)) }
      })

      const findVersion = Effect.fnUntraced(function* (agentId: string, number: number) {
        const rows = yield* sql<VersionRow>`SELECT * FROM agent_versions
          WHERE agent_id = ${agentId} AND version_number = ${number}`.pipe(Effect.orDie)
        const row = rows[0]
        return row === undefined ? yield* notFound("Version") : row
      })

      return {
        publish: Effect.fn("Versions.publish")(
          function* (workspace, agentId, input) {
            const agent = yield* findAgent(workspace, agentId, true)
            const { hash, knowledge, mcpServers, tools } = yield* pin(agent)
            if (agent.live_version !== null) {
              const live = yield* findVersion(agentId, agent.live_version)
              if (live.config_hash === hash) return show(live)
            }
            const number = (agent.live_version ?? 0) + 1
            const rows = yield* sql<VersionRow>`
              INSERT INTO agent_versions (agent_id, version_number, title, description, config, config_hash, tools,
                knowledge, mcp_servers)
              VALUES (${agentId}, ${number}, ${input.version_title ?? null}, ${input.version_description ?? null},
                ${JSON.stringify(agent.draft)}::jsonb, ${hash}, ${JSON.stringify(tools)}::jsonb,
                ${JSON.stringify(knowledge)}::jsonb, ${JSON.stringify(mcpServers)}::jsonb) RETURNING *`
            yield* sql`UPDATE agents SET live_version = ${number}, updated_at = now() WHERE id = ${agentId}`
            const row = rows[0]
            return row === undefined ? yield* notFound("Version") : show(row)
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        list: Effect.fn("Versions.list")(function* (workspace, agentId, page) {
          yield* findAgent(workspace, agentId)
          const window = yield* openWindow(page)
          const keyset = window.after ? sql`AND version_number < ${window.after}::bigint` : sql``
          const rows = yield* sql<VersionRow>`SELECT * FROM agent_versions WHERE agent_id = ${agentId} ${keyset}
            ORDER BY version_number DESC LIMIT ${window.limit} OFFSET ${window.offset}`.pipe(Effect.orDie)
          const counted = window.counted
            ? yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM agent_versions WHERE agent_id = ${agentId}`.pipe(
                Effect.orDie
              )
            : []
          return closeWindow(window, rows, counted[0]?.n ?? null, (row) => row.version_number, show)
        }),

        get: Effect.fn("Versions.get")(function* (workspace, agentId, number) {
          yield* findAgent(workspace, agentId)
          if (!/^\d{1,9}$/.test(number)) return yield* notFound("Version")
          const row = yield* findVersion(agentId, Number(number))
          return { ...show(row), config: redactConfig(decodeConfig(row.config)) }
        }),

        live: Effect.fnUntraced(function* (workspace, agentId) {
          const agent = yield* findAgent(workspace, agentId)
          if (agent.live_version === null) {
            return yield* new Conflict({ message: "The agent has no published version" })
          }
          const version = yield* findVersion(agentId, agent.live_version)
          return runnable(agent, version.version_number, version.config, version.config_hash)
        }),

        draft: Effect.fn("Versions.draft")(function* (workspace, agentId) {
          const agent = yield* findAgent(workspace, agentId)
          return runnable(agent, null, agent.draft, (yield* pin(agent)).hash)
        })
      }
    })
  )
}

interface VersionRow {
  readonly version_number: number
  readonly title: string | null
  readonly description: string | null
  readonly config: unknown
  readonly config_hash: string
  readonly published_at: Date
}

const show = (row: VersionRow): VersionSummary => ({
  version_number: row.version_number,
  version_title: row.title,
  version_description: row.description,
  config_hash: row.config_hash,
  published_at: row.published_at.toISOString()
})

const runnable = (agent: AgentRow, versionNumber: number | null, config: unknown, configHash: string): Runnable => ({
  agentId: agent.id,
  agentName: agent.name,
  overridesAllowed: agent.overrides_allowed,
  versionNumber,
  config: decodeConfig(config),
  configHash
})
