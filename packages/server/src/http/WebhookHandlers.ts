// The log of webhooks over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { Deliveries } from "@parley/workspace/webhooks/Deliveries"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  MainApi,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const deliveries = yield* Deliveries
    const workspace = Effect.map(Caller, ({ workspaceId }) => workspaceId)
    return handlers.handleAll({
      listWebhookDeliveries: ({ params }) =>
        Effect.flatMap(workspace, (ws) => deliveries.ofSession(ws, params.session_id)).pipe(
          Effect.map((found) => ({ webhook_deliveries: found }))
        ),
      resendWebhookDelivery: ({ params }) =>
        Effect.flatMap(workspace, (ws) => deliveries.resend(ws, params.delivery_id))
    })
  })
)
