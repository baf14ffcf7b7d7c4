// /health: whether calls can be taken, and who serves each part.
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Calls } from "@parley/app/calls/Calls"
import { ServingHealth } from "@parley/app/ServingHealth"
import { version } from "../version.ts"

export const layer = HttpApiBuilder.group(
  MainApi,
  "system",
  Effect.fnUntraced(function* (handlers) {
    const serving = yield* ServingHealth
    const calls = yield* Calls
    return handlers.handleAll({
      health: () =>
        Effect.gen(function* () {
          const serves = yield* serving.snapshot
          const complete = Object.values(serves).every((list) => list.some(({ state }) => state === "up"))
          const status = calls.isStopping() ? "draining" : complete ? "ok" : "degraded"
          return {
            status,
            version,
            serves,
            calls: calls.taken()
          } as const
        })
    })
  })
)
