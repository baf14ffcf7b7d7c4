// Tools over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { Tools } from "@parley/workspace/tools/Tools"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  MainApi,
  "tools",
  Effect.fnUntraced(function* (handlers) {
    const tools = yield* Tools
    const workspace = Effect.map(Caller, ({ workspaceId }) => workspaceId)

    return handlers.handleAll({
      listTools: ({ query }) =>
        Effect.flatMap(workspace, (ws) => tools.list(ws, query)).pipe(
          Effect.map(({ items, ...page }) => ({ tools: items, ...page }))
        ),
      createTool: ({ payload }) => Effect.flatMap(workspace, (ws) => tools.create(ws, payload)),
      getTool: ({ params }) => Effect.flatMap(workspace, (ws) => tools.get(ws, params.tool_id)),
      updateTool: ({ params, payload }) => Effect.flatMap(workspace, (ws) => tools.update(ws, params.tool_id, payload)),
      deleteTool: ({ params }) => Effect.flatMap(workspace, (ws) => tools.remove(ws, params.tool_id)),
      listToolAgents: ({ params }) => Effect.flatMap(workspace, (ws) => tools.agents(ws, params.tool_id)),
      testTool: ({ params, payload }) => Effect.flatMap(workspace, (ws) => tools.test(ws, params.tool_id, payload))
    })
  })
)
