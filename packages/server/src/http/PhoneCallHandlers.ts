// Telephone calls over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OutboundCalls } from "@parley/app/calls/Outbound"

export const layer = HttpApiBuilder.group(
  MainApi,
  "phoneCalls",
  Effect.fnUntraced(function* (handlers) {
    const calls = yield* OutboundCalls
    return handlers.handleAll({
      createPhoneCall: ({ headers, payload }) =>
        Effect.flatMap(Caller, ({ workspaceId }) => calls.place(workspaceId, payload, headers["idempotency-key"]))
    })
  })
)
