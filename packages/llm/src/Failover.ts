// Several chat models as one: the first healthy one serves; one that fails or says nothing before its first word
// hands over to the next and rests for a while. After the first word there is no way back.
import { Clock, Effect, Stream } from "effect"
import { type ChatDelta, ChatError, type ChatErrorReason, type ChatModel } from "./ChatModel.ts"

const restMs = 30_000
/** A caller waits for the first word: with another model at hand it is given up early, else before the call does. */
const firstWordMs = { beforeOthers: 4_000, last: 9_000 }

/** How a model did when it was asked last. */
export interface ChatHealth {
  readonly provider: string
  readonly healthy: boolean
  readonly lastError: ChatErrorReason | null
}

/** Several models behind the port, with the health of each. */
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
      const boundMs = rest.length > 0 ? firstWordMs.beforeOthers : firstWordMs.last
      return firstWithin(boundMs, record.model.provider, record.model.stream(request)).pipe(
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

const firstWithin = (
  ms: number,
  provider: string,
  stream: Stream.Stream<ChatDelta, ChatError>
): Stream.Stream<ChatDelta, ChatError> =>
  Stream.unwrap(
    Effect.map(Stream.toPull(stream), (pull) => {
      const late = new ChatError({ reason: "Timeout", provider, message: "no first word within the bound" })
      let first = true
      const next = Effect.suspend(() => {
        if (!first) return pull
        first = false
        return Effect.timeoutOrElse(pull, { duration: ms, orElse: () => Effect.fail(late) })
      })
      return Stream.fromPull(Effect.succeed(next))
    })
  )
