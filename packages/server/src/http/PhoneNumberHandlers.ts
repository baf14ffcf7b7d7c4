// Telephone numbers over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { PhoneNumbers } from "@parley/workspace/phone/PhoneNumbers"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  MainApi,
  "phoneNumbers",
  Effect.fnUntraced(function* (handlers) {
    const numbers = yield* PhoneNumbers
    const workspace = Effect.map(Caller, ({ workspaceId }) => workspaceId)

    return handlers.handleAll({
      listPhoneNumbers: ({ query }) =>
        Effect.flatMap(workspace, (ws) => numbers.list(ws, query)).pipe(
          Effect.map(({ items, ...page }) => ({ phone_numbers: items, ...page }))
        ),
      createPhoneNumber: ({ payload }) => Effect.flatMap(workspace, (ws) => numbers.create(ws, payload)),
      getPhoneNumber: ({ params }) => Effect.flatMap(workspace, (ws) => numbers.get(ws, params.phone_number_id)),
      updatePhoneNumber: ({ params, payload }) =>
        Effect.flatMap(workspace, (ws) => numbers.update(ws, params.phone_number_id, payload)),
      replaceSipConfig: ({ params, payload }) =>
        Effect.flatMap(workspace, (ws) => numbers.replaceTrunk(ws, params.phone_number_id, payload)),
      releasePhoneNumber: ({ params }) =>
        Effect.flatMap(workspace, (ws) => numbers.release(ws, params.phone_number_id)),
      listAvailablePhoneNumbers: ({ query }) =>
        Effect.map(numbers.available(query), (found) => ({ available_phone_numbers: found }))
    })
  })
)
