// Several chat models as one: the first healthy one serves; one that fails before its first word hands
// over to the next and rests for a while. After the first word there is no way back.
import { Clock, Effect, Stream } from "effect"
import type { ChatErrorReason, ChatModel } from "./ChatModel.ts"

const restMs = 30_000

export interface ChatHealth {
  readonly provider: string
  readonly healthy: boolean
  readonly lastError: ChatErrorReason | null
}

export interface FailoverChat extends ChatModel {
  readonly health: () => ReadonlyArray<ChatHealth>
}

/** `models` in order of preference, at least one. */
export const make = (models: readonly [ChatModel, ...ReadonlyArray<ChatModel>]): FailoverChat => {
  const records = models.map((model) => ({ model, restUntil: 0, lastError: null as ChatErrorReason | null }))
  const serve = (candidates: ReadonlyArray<(typeof records)[number]>): ChatModel["stream"] => {
    const [record, ...rest] = candidates as [(typeof records)[number], ...typeof records]
    return (request) => {
      let began = false
      return record.model.stream(request).pipe(
        Stream.tap(() =>
          Effect.sync(() => {
            began = true
            record.lastError = null
          })
        ),
        Stream.catch((error) =>
          Stream.unwrap(
            Effect.map(Clock.currentTimeMillis, (now) => {
              record.lastError = error.reason
              if (error.reason !== "BadRequest") record.restUntil = now + restMs
              return began || rest.length === 0 ? Stream.fail(error) : serve(rest)(request)
            })
          )
        )
      )
    }
  }
  return {
    provider: models.map((model) => model.provider).join(","),
    stream: (request) =>
      Stream.unwrap(
        Effect.map(Clock.currentTimeMillis, (now) => {
          const rested = records.filter((record) => record.restUntil <= now)
          return serve(rested.length > 0 ? rested : records)(request)
        })
      ),
    health: () =>
      records.map(({ lastError, model }) => ({ provider: model.provider, healthy: lastError === null, lastError }))
  }
}
