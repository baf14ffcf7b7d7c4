// Sessions over HTTP for callers with a key, and without one for visitors of a public agent: translation only.
import { Visitor } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { PublicAccess } from "@parley/app/publicAccess/PublicAccess"
import { SessionRequests } from "@parley/app/sessions/SessionRequests"
import { Settings } from "../Settings.ts"
import { clientAddress } from "./clientAddress.ts"
import { rtcUrl } from "./RtcUrl.ts"

export const layer = HttpApiBuilder.group(
  MainApi,
  "sessionStart",
  Effect.fnUntraced(function* (handlers) {
    const sessionRequests = yield* SessionRequests
    const visitors = yield* PublicAccess
    const settings = yield* Settings
    const visit = Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      return { origin: headers["origin"], address: yield* clientAddress }
    }).pipe(Effect.provideService(Settings, settings))

    return handlers.handleAll({
      createSession: ({ payload }) =>
        Effect.gen(function* () {
          const { principal } = yield* Visitor
          const url = yield* rtcUrl(settings.publicUrl)
          return yield* principal === undefined
            ? visitors.open(yield* visit, payload, url)
            : sessionRequests.open(principal.workspaceId, payload, url)
        }),
      getAgentWidget: ({ params }) =>
        Effect.gen(function* () {
          return { agent_name: (yield* visitors.agent(yield* visit, params.agent_id)).name }
        })
    })
  })
)
