// The workspace's MCP servers. A foreign or removed one is not found. One that a draft names cannot be removed; one
// that is removed lives on in the versions that were published with it.
import {
  type BadGateway,
  type BadRequest,
  Conflict,
  type Invalid,
  invalid,
  type NotFound
} from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import {
  type McpServer,
  type McpServerCreate,
  type McpServerPatch,
  type McpServerTools,
  type McpTool,
  type StoredMcpServer
} from "@parley/contract/McpServer"
import type { Page, PageRequest } from "@parley/contract/Page"
import { headerFaults } from "@parley/contract/Tool"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { configHash } from "../storage/configHash.ts"
import { newId } from "../storage/Id.ts"
import { type AllowedPrivate, readAllowed } from "../outbound/AllowedPrivate.ts"
import { urlFault, webhookRules } from "../outbound/CustomerUrl.ts"
import { SafeHttp } from "../outbound/SafeHttp.ts"
import { likePattern, readPage } from "../storage/Paging.ts"
import { finder } from "../storage/records.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"
import { Platform } from "../Platform.ts"
import type { OwnedSecrets } from "../storage/SecretBox.ts"
import { secretOwner } from "../storage/SecretOwner.ts"
import { Secrets } from "../storage/Secrets.ts"
import { Database } from "../storage/Database.ts"
import { keptHeaders, missingParts, sealHeaders, showHeader } from "../tools/SealedHeaders.ts"
import { decodeMcpServer, type McpServerRow, mcpServerRows, StoredMcpServers } from "./PinnedMcp.ts"
import { toolChanges, toolsOf } from "./PublishedMcp.ts"

/** MCP servers of a workspace. */
export class McpServers extends Context.Service<
  McpServers,
  {
    readonly list: (
      workspace: string,
      query: PageRequest & { readonly search?: string }
    ) => Effect.Effect<Page<McpServer>, BadRequest>
    readonly create: (workspace: string, input: McpServerCreate) => Effect.Effect<McpServer, Invalid>
    readonly get: (workspace: string, id: string) => Effect.Effect<McpServer, NotFound>
    readonly update: (
      workspace: string,
      id: string,
      patch: McpServerPatch
    ) => Effect.Effect<McpServer, NotFound | Invalid>
    readonly remove: (workspace: string, id: string) => Effect.Effect<void, NotFound | Conflict>
    /** Asked now, and how it differs for agents published with it; fails with BadGateway when it cannot be asked. */
    readonly tools: (
      workspace: string,
      id: string
    ) => Effect.Effect<Omit<McpServerTools, "mcp_server_id">, NotFound | BadGateway>
  }
>()("@parley/workspace/McpServers") {
  static readonly layer: Layer.Layer<
    McpServers,
    never,
    Database | SqlClient.SqlClient | Platform | Secrets | SafeHttp
  > = Layer.effect(
    McpServers,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const secrets = yield* Secrets
      const http = yield* SafeHttp
      const allowed = readAllowed((yield* Platform).allowedPrivate)
      const partsOf = (id: string) => ({ secrets: secrets.of(secretOwner.mcpServer(id)), allowed })

      const usedBy = sql`(SELECT count(*)::int FROM agents a WHERE a.workspace_id = t.workspace_id
          AND a.deleted_at IS NULL AND a.draft->'tools'->'mcp_server_ids' @> to_jsonb(t.id)) AS used_by`

      const find = finder(sql, {
        table: "mcp_servers",
        noun: "MCP server",
        read: mcpServerRows,
        columns: sql`t.*, ${usedBy}`
      })

      return {
        list: Effect.fn("McpServers.list")(function* (workspace, query) {
          const conditions = [sql`t.workspace_id = ${workspace}`]
          if (query.search) conditions.push(sql`t.name ILIKE ${likePattern(query.search)}`)
          return yield* readPage(sql, query, {
            from: "mcp_servers",
            read: mcpServerRows,
            beside: usedBy,
            where: conditions,
            show
          })
        }),

        create: Effect.fn("McpServers.create")(function* (workspace, input) {
          const id = newId("mcp")
          const server = yield* merged(partsOf(id), undefined, input)
          const rows = mcpServerRows(sql`INSERT INTO mcp_servers (id, workspace_id, name, definition, content_hash)
              VALUES (${id}, ${workspace}, ${server.name}, ${JSON.stringify(server)}::jsonb, ${configHash(server)})
              RETURNING *`)
          return show(yield* onlyRow(rows).pipe(Effect.orDie))
        }),

        get: Effect.fn("McpServers.get")(function* (workspace, id) {
          return show(yield* find(workspace, id))
        }),

        update: Effect.fn("McpServers.update")(
          function* (workspace, id, patch) {
            const row = yield* find(workspace, id, "update")
            const stored = decodeMcpServer(row.definition)
            const server = yield* merged(partsOf(id), stored, patch)
            const hash = configHash(server) === configHash(stored) ? row.content_hash : configHash(server)
            yield* sql`UPDATE mcp_servers SET name = ${server.name}, definition = ${JSON.stringify(server)}::jsonb,
                content_hash = ${hash}, updated_at = now() WHERE id = ${id}`
            return show(yield* find(workspace, id))
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        remove: Effect.fn("McpServers.remove")(
          function* (workspace, id) {
            yield* find(workspace, id, "update")
            // Counted under the lock.
            const { used_by: users = 0 } = yield* find(workspace, id)
            if (users > 0) {
              const agents = users === 1 ? "1 agent" : `${users} agents`
              return yield* new Conflict({ message: `The MCP server is attached to ${agents}` })
            }
            yield* sql`DELETE FROM mcp_servers WHERE id = ${id}`
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        // Without a span: a failure may quote what the server says.
        tools: Effect.fnUntraced(function* (workspace, id) {
          const definition = decodeMcpServer((yield* find(workspace, id)).definition)
          const tools = yield* toolsOf({ http, secretsOf: secrets.of }, { mcp_server_id: id, definition })
          const agents = yield* publishedWith(sql, workspace, id)
          return { tools, changes: agents.flatMap((agent) => changesOf(agent, id, tools)) }
        })
      }
    })
  )
}

/** The server as it is to be stored, or everything that is wrong with it. */
const merged = Effect.fnUntraced(function* (
  { allowed, secrets }: { readonly allowed: AllowedPrivate; readonly secrets: OwnedSecrets },
  stored: StoredMcpServer | undefined,
  sent: McpServerCreate | McpServerPatch
) {
  const url = sent.url ?? stored?.url ?? ""
  const kept = keptHeaders(stored, url)
  const headers = sent.headers === undefined ? kept : sealHeaders(secrets, sent.headers, kept)
  const faults = [...headerFaults(headers), ...missingParts(sent.headers ?? [], kept)]
  const wrong = url === stored?.url ? undefined : urlFault(url, webhookRules, allowed)
  if (wrong !== undefined) faults.push(fault(["body", "url"], wrong))
  if (faults.length > 0) return yield* invalid(faults)
  const server: StoredMcpServer = {
    name: sent.name ?? stored?.name ?? "",
    url,
    headers,
    timeout_seconds: sent.timeout_seconds ?? stored?.timeout_seconds ?? 30
  }
  return server
})

/** Agents whose live version has the server. */
const publishedWith = (sql: SqlClient.SqlClient, workspace: string, id: string) =>
  publishedRows(sql`SELECT a.id, a.name, v.mcp_servers FROM agents a
    JOIN agent_versions v ON v.agent_id = a.id AND v.version_number = a.live_version
    WHERE a.workspace_id = ${workspace} AND a.deleted_at IS NULL
      AND v.mcp_servers @> ${JSON.stringify([{ mcp_server_id: id }])}::jsonb
    ORDER BY a.seq`).pipe(Effect.orDie)

const publishedRows = rowsOf(
  "agents",
  Schema.Struct({ id: Schema.String, name: Schema.String, mcp_servers: StoredMcpServers })
)

const changesOf = (
  agent: { readonly id: string; readonly name: string; readonly mcp_servers: typeof StoredMcpServers.Type },
  id: string,
  now: ReadonlyArray<McpTool>
): McpServerTools["changes"] => {
  const published = agent.mcp_servers.find(({ mcp_server_id }) => mcp_server_id === id)?.tools
  if (published === undefined) return []
  const changes = toolChanges(published, now)
  const isSame = Object.values(changes).every((names) => names.length === 0)
  return isSame ? [] : [{ agent_id: agent.id, agent_name: agent.name, ...changes }]
}

const show = (row: McpServerRow): McpServer => {
  const { headers, ...definition } = decodeMcpServer(row.definition)
  return {
    mcp_server_id: row.id,
    workspace_id: row.workspace_id,
    ...definition,
    headers: headers.map(showHeader),
    used_by: row.used_by ?? 0,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString()
  }
}
