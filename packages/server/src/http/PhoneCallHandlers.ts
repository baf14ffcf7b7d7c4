// Telephone calls over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { PhoneDesk } from "@parley/app/phone/PhoneDesk"

export const layer = HttpApiBuilder.group(
  MainApi,
  "phoneCalls",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* PhoneDesk
    return handlers.handleAll({
      createPhoneCall: ({ headers, payload }) =>
        Effect.flatMap(Caller, ({ workspaceId }) => desk.place(workspaceId, payload, headers["idempotency-key"]))
    })
  })
)
