// Published versions: immutable, numbered from 1. Publishing a draft that equals the live version makes no new one.
// Sessions run the live version with its tools and knowledge as they were; it stays readable for them after its agent
// is gone.
import type { Publish, Version, VersionSummary } from "@parley/contract/Agent"
import { redactConfig, type StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { type BadGateway, type BadRequest, Conflict, type NotFound, notFound } from "@parley/contract/Errors"
import type { Page, PageRequest } from "@parley/contract/Page"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { runnableMcpServers, type RunnableMcpServer, StoredMcpServers } from "../mcp/PinnedMcp.ts"
import { withTools } from "../mcp/PublishedMcp.ts"
import { SafeHttp } from "../outbound/SafeHttp.ts"
import { canonical } from "../storage/canonicalJson.ts"
import { Database } from "../storage/Database.ts"
import { closeWindow, countWhen, openWindow } from "../storage/Paging.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"
import { Secrets } from "../storage/Secrets.ts"
import { agentFinder, type AgentRow, decodeConfig } from "./AgentRow.ts"
import { pinParts } from "./PinnedParts.ts"

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

/** Published versions of agents. */
export class Versions extends Context.Service<
  Versions,
  {
    /** Fails with BadGateway when an MCP server it was never published with cannot be asked for its tools. */
    readonly publish: (
      workspace: string,
      agentId: string,
      input: Publish
    ) => Effect.Effect<VersionSummary, NotFound | BadGateway | Conflict>
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
  static readonly layer: Layer.Layer<Versions, never, Database | SqlClient.SqlClient | SafeHttp | Secrets> =
    Layer.effect(
      Versions,
      Effect.gen(function* () {
        yield* Database
        const sql = yield* SqlClient.SqlClient

        const asking = { http: yield* SafeHttp, secretsOf: (yield* Secrets).of }
        const findAgent = agentFinder(sql)
        const pin = (agent: AgentRow) => pinParts(sql, agent.workspace_id, decodeConfig(agent.draft), agent.draft_hash)

        const findVersion = Effect.fnUntraced(function* (agentId: string, number: number) {
          const [row] = yield* versionRows(sql`SELECT * FROM agent_versions
          WHERE agent_id = ${agentId} AND version_number = ${number}`).pipe(Effect.orDie)
          return row ?? (yield* notFound("Version"))
        })

        /** The draft's MCP servers with their tools. Outside of any transaction: it waits for others. */
        const askServers = Effect.fnUntraced(function* (agent: AgentRow) {
          const { mcpServers } = yield* pin(agent)
          if (mcpServers.length === 0) return []
          const live = agent.live_version === null ? undefined : yield* findVersion(agent.id, agent.live_version)
          return yield* withTools(asking, mcpServers, live === undefined ? [] : runnableMcpServers(live.mcp_servers))
        })

        const store = Effect.fnUntraced(
          function* (workspace: string, agentId: string, input: Publish, mcpServers: ReadonlyArray<RunnableMcpServer>) {
            const agent = yield* findAgent(workspace, agentId, "update")
            const { hash, knowledge, mcpServers: wanted, tools } = yield* pin(agent)
            if (
              !areSame(
                wanted,
                mcpServers.map(({ definition, mcp_server_id }) => ({ mcp_server_id, definition }))
              )
            ) {
              return yield* new Conflict({ message: "The draft was changed while it was published; publish again" })
            }
            if (agent.live_version !== null) {
              const live = yield* findVersion(agentId, agent.live_version)
              if (live.config_hash === hash && areSame(listings(live.mcp_servers), listings(mcpServers)))
                return show(live)
            }
            const number = (agent.live_version ?? 0) + 1
            const row = yield* versionRows(sql`
              INSERT INTO agent_versions (agent_id, version_number, title, description, config, config_hash, tools,
                knowledge, mcp_servers)
              VALUES (${agentId}, ${number}, ${input.version_title ?? null}, ${input.version_description ?? null},
                ${JSON.stringify(agent.draft)}::jsonb, ${hash}, ${JSON.stringify(tools)}::jsonb,
                ${JSON.stringify(knowledge)}::jsonb, ${JSON.stringify(mcpServers)}::jsonb) RETURNING *`).pipe(onlyRow)
            yield* sql`UPDATE agents SET live_version = ${number}, updated_at = now() WHERE id = ${agentId}`
            return show(row)
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        )

        return {
          publish: Effect.fn("Versions.publish")(function* (workspace, agentId, input) {
            const servers = yield* askServers(yield* findAgent(workspace, agentId))
            return yield* store(workspace, agentId, input, servers)
          }),

          list: Effect.fn("Versions.list")(function* (workspace, agentId, page) {
            yield* findAgent(workspace, agentId)
            const window = yield* openWindow(page)
            const keyset = window.after ? sql`AND version_number < ${window.after}::bigint` : sql``
            const rows = yield* versionRows(sql`SELECT * FROM agent_versions WHERE agent_id = ${agentId} ${keyset}
            ORDER BY version_number DESC LIMIT ${window.limit} OFFSET ${window.offset}`).pipe(Effect.orDie)
            const counting = sql`SELECT count(*)::int AS n FROM agent_versions WHERE agent_id = ${agentId}`
            return closeWindow(window, rows, yield* countWhen(window, counting), (row) => row.version_number, show)
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

const VersionRow = Schema.Struct({
  version_number: Schema.Int,
  title: Schema.NullOr(Schema.String),
  description: Schema.NullOr(Schema.String),
  /** For `decodeConfig`. */
  config: Schema.Unknown,
  config_hash: Schema.String,
  mcp_servers: StoredMcpServers,
  published_at: Schema.Date
})
type VersionRow = typeof VersionRow.Type
const versionRows = rowsOf("agent_versions", VersionRow)

/** Where a server is and its credentials are in the hash; a new seal over the same credential is no change. */
const listings = (servers: ReadonlyArray<{ readonly mcp_server_id: string; readonly tools?: unknown }>) =>
  servers.map(({ mcp_server_id, tools }) => ({ mcp_server_id, tools }))

const areSame = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other)

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
