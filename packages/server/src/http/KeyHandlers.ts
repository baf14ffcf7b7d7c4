// API keys over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { KeyManagement } from "@parley/workspace/identity/KeyManagement"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  MainApi,
  "keys",
  Effect.fnUntraced(function* (handlers) {
    const keys = yield* KeyManagement

    return handlers.handleAll({
      listKeys: ({ query }) =>
        Effect.flatMap(Caller, ({ workspaceId }) => keys.list(workspaceId, query)).pipe(
          Effect.map(({ items, ...page }) => ({ keys: items, ...page }))
        ),
      createKey: ({ payload }) => Effect.flatMap(Caller, (caller) => keys.create(caller, payload)),
      updateKey: ({ params, payload }) =>
        Effect.flatMap(Caller, (caller) => keys.update(caller, params.key_id, payload)),
      rotateKey: ({ params, payload }) =>
        Effect.flatMap(Caller, (caller) => keys.rotate(caller, params.key_id, payload?.overlap_seconds ?? 0)),
      revokeKey: ({ params }) => Effect.flatMap(Caller, ({ workspaceId }) => keys.revoke(workspaceId, params.key_id))
    })
  })
)
