// Analyses calls that are over, one after another: looks when one ended and every two seconds besides. Three attempts,
// each bounded; what cannot be analysed is told as skipped or as an error, never forgotten.
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import type { ChatModel } from "@parley/llm/ChatModel"
import { Context, Effect, Layer, Result, Stream } from "effect"
import { Analyses, isWanted, type Outcome, type QueuedAnalysis } from "./Analyses.ts"
import { answerOf, questionOf } from "./question.ts"

/** Who analyses: the agent's own model or the server's; undefined where none of them can. */
export class AnalysisModel extends Context.Service<
  AnalysisModel,
  { readonly chat: (config: StoredConfig) => ChatModel | undefined }
>()("@parley/workspace/AnalysisModel") {}

const attemptMs = 60_000
const lookMs = 2_000
const retryWaitsMs = [2_000, 10_000] as const

export const layer: Layer.Layer<never, never, Analyses | AnalysisModel> = Layer.effectDiscard(
  Effect.gen(function* () {
    const analyses = yield* Analyses
    const mind = yield* AnalysisModel

    const analyse = Effect.fnUntraced(function* (queued: QueuedAnalysis) {
      const { attempts, config, said } = queued
      const spoke = said.some(({ role }) => role === "user")
      if (!isWanted(config.analysis) || !spoke) return yield* analyses.finish(queued, nothing("skipped", null))
      const model = mind.chat(config)
      if (model === undefined) return yield* analyses.finish(queued, nothing("error", "no language model can analyse"))
      const answer = yield* Effect.result(ask(model, queued))
      if (Result.isSuccess(answer)) return yield* analyses.finish(queued, answer.success)
      const waitMs = retryWaitsMs[attempts]
      return yield* waitMs === undefined
        ? analyses.finish(queued, nothing("error", answer.failure))
        : analyses.later(queued, waitMs)
    })

    yield* Effect.forever(
      Effect.gen(function* () {
        analyses.wakeUp.closeUnsafe()
        const queued = yield* analyses.claim
        if (queued === undefined) yield* Effect.timeoutOption(analyses.wakeUp.await, lookMs)
        else yield* analyse(queued)
      }).pipe(
        Effect.catchCause(() =>
          Effect.andThen(Effect.logWarning("An analysis could not be made"), Effect.sleep(lookMs))
        )
      )
    ).pipe(Effect.forkScoped)
  })
)

const ask = ({ stream }: ChatModel, { config, said }: QueuedAnalysis): Effect.Effect<Outcome, string> =>
  stream({ messages: questionOf(config.analysis, said), tools: [], extra: {} }).pipe(
    Stream.runFold(
      () => "",
      (text, delta) => (delta._tag === "Text" ? text + delta.text : text)
    ),
    Effect.mapError((error) => `the language model failed: ${error.reason}`),
    Effect.timeoutOrElse({ duration: attemptMs, orElse: () => Effect.fail("the language model took too long") }),
    Effect.flatMap((text) => {
      const answer = answerOf(config.analysis, text)
      return Result.isFailure(answer)
        ? Effect.fail(answer.failure)
        : Effect.succeed<Outcome>({
            status: "completed",
            summary: answer.success.summary,
            data: answer.success.data,
            criteria_results: answer.success.criteria,
            error: null
          })
    })
  )

const nothing = (status: "skipped" | "error", error: string | null): Outcome => ({
  status,
  summary: null,
  data: [],
  criteria_results: [],
  error
})
