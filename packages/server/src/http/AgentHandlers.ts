// Agents over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { Agents } from "@parley/workspace/agents/Agents"
import { Versions } from "@parley/workspace/agents/Versions"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SessionRequests } from "@parley/app/sessions/SessionRequests"
import { Settings } from "../Settings.ts"
import { rtcUrl } from "./RtcUrl.ts"

export const layer = HttpApiBuilder.group(
  MainApi,
  "agents",
  Effect.fnUntraced(function* (handlers) {
    const agents = yield* Agents
    const versions = yield* Versions
    const sessionRequests = yield* SessionRequests
    const settings = yield* Settings
    const workspace = Effect.map(Caller, ({ workspaceId }) => workspaceId)

    return handlers.handleAll({
      listAgents: ({ query }) =>
        Effect.flatMap(workspace, (ws) => agents.list(ws, query)).pipe(
          Effect.map(({ items, ...page }) => ({ agents: items, ...page }))
        ),
      createAgent: ({ payload }) => Effect.flatMap(workspace, (ws) => agents.create(ws, payload)),
      getAgent: ({ params }) => Effect.flatMap(workspace, (ws) => agents.get(ws, params.agent_id)),
      updateAgent: ({ params, payload }) =>
        Effect.flatMap(workspace, (ws) => agents.update(ws, params.agent_id, payload)),
      deleteAgent: ({ params }) => Effect.flatMap(workspace, (ws) => agents.remove(ws, params.agent_id)),
      getAgentConfig: ({ params }) => Effect.flatMap(workspace, (ws) => agents.config(ws, params.agent_id)),
      updateAgentConfig: ({ params, payload }) =>
        Effect.flatMap(workspace, (ws) => agents.updateConfig(ws, params.agent_id, payload)),
      publishAgent: ({ params, payload }) =>
        Effect.flatMap(workspace, (ws) => versions.publish(ws, params.agent_id, payload ?? {})),
      listAgentVersions: ({ params, query }) =>
        Effect.flatMap(workspace, (ws) => versions.list(ws, params.agent_id, query)).pipe(
          Effect.map(({ items, ...page }) => ({ versions: items, ...page }))
        ),
      getAgentVersion: ({ params }) =>
        Effect.flatMap(workspace, (ws) => versions.get(ws, params.agent_id, params.version_number)),
      duplicateAgent: ({ params, payload }) =>
        Effect.flatMap(workspace, (ws) => agents.duplicate(ws, params.agent_id, payload?.name)),
      createPreviewSession: ({ params, payload }) =>
        Effect.gen(function* () {
          return yield* sessionRequests.preview(
            yield* workspace,
            params.agent_id,
            payload ?? {},
            yield* rtcUrl(settings.publicUrl)
          )
        })
    })
  })
)
