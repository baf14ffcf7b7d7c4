// MCP servers over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { McpServers } from "@parley/workspace/mcp/McpServers"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  MainApi,
  "mcpServers",
  Effect.fnUntraced(function* (handlers) {
    const servers = yield* McpServers
    const workspace = Effect.map(Caller, ({ workspaceId }) => workspaceId)

    return handlers.handleAll({
      listMcpServers: ({ query }) =>
        Effect.flatMap(workspace, (ws) => servers.list(ws, query)).pipe(
          Effect.map(({ items, ...page }) => ({ mcp_servers: items, ...page }))
        ),
      createMcpServer: ({ payload }) => Effect.flatMap(workspace, (ws) => servers.create(ws, payload)),
      getMcpServer: ({ params }) => Effect.flatMap(workspace, (ws) => servers.get(ws, params.mcp_server_id)),
      updateMcpServer: ({ params, payload }) =>
        Effect.flatMap(workspace, (ws) => servers.update(ws, params.mcp_server_id, payload)),
      deleteMcpServer: ({ params }) => Effect.flatMap(workspace, (ws) => servers.remove(ws, params.mcp_server_id)),
      listMcpServerTools: ({ params: { mcp_server_id } }) =>
        Effect.flatMap(workspace, (ws) => servers.tools(ws, mcp_server_id)).pipe(
          Effect.map(({ changes, tools }) => ({ mcp_server_id, tools, changes }))
        )
    })
  })
)
