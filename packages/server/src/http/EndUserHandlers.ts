// Erasure of end users over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { numberInQuery } from "@parley/contract/PhoneNumber"
import { Erasure } from "@parley/workspace/Erasure"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  MainApi,
  "endUsers",
  Effect.fnUntraced(function* (handlers) {
    const erasure = yield* Erasure
    return handlers.handleAll({
      eraseEndUser: ({ params }) =>
        Effect.flatMap(Caller, ({ workspaceId }) => erasure.person(workspaceId, { endUserId: params.end_user_id })),
      eraseCaller: ({ query }) =>
        Effect.flatMap(Caller, ({ workspaceId }) =>
          erasure.person(workspaceId, { callerNumber: numberInQuery(query.caller_number) })
        )
    })
  })
)
