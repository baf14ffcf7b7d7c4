// Analyses calls that are over, one after another. Three attempts, each bounded; what cannot be analysed is told as
// skipped or as an error, never forgotten. The model's time is charged by the second; an analysis that the balance does not
// cover is an error, and can be begun anew.
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import type { ChatModel } from "@parley/llm/ChatModel"
import { Context, Effect, Layer, Result, Stream } from "effect"
import { Billing } from "../billing/Billing.ts"
import { byTheSecond } from "../billing/byTheSecond.ts"
import * as JobWorker from "../jobs/JobWorker.ts"
import { type AnalysedCall, Analyses, isWanted, type Outcome, type QueuedRow } from "./Analyses.ts"
import { answerOf, questionOf } from "./question.ts"

/** Port: who analyses, the agent's own model or the server's; undefined where none of them can. */
export class AnalysisModel extends Context.Service<
  AnalysisModel,
  { readonly chat: (config: StoredConfig, agentId: string) => ChatModel | undefined }
>()("@parley/workspace/AnalysisModel") {}

const attemptMs = 60_000
const lookMs = 2_000
/** Before the second and the third attempt. */
const retryWaitsMs = [2_000, 10_000] as const

/** The worker. */
export const layer: Layer.Layer<never, never, Analyses | AnalysisModel | Billing> = Layer.effectDiscard(
  Effect.gen(function* () {
    const analyses = yield* Analyses
    const models = yield* AnalysisModel
    const billing = yield* Billing

    const analyse = Effect.fnUntraced(function* (call: AnalysedCall, queued: QueuedRow) {
      const spoke = call.transcript.some(({ role }) => role === "user")
      if (!isWanted(call.config.analysis) || !spoke) return yield* analyses.finish(call, nothing("skipped", null))
      const model = models.chat(call.config, call.row.agent_id)
      if (model === undefined) return yield* analyses.finish(call, nothing("error", "no language model can analyse"))
      const answer = yield* Effect.result(
        Effect.mapError(byTheSecond(billing, call.row.workspace_id, "analysis", ask(model, call)), (error) =>
          typeof error === "string" ? error : unpaid
        )
      )
      if (Result.isSuccess(answer)) return yield* analyses.finish(call, answer.success)
      if (answer.failure === unpaid) return yield* analyses.finish(call, nothing("error", unpaid))
      const waitMs = retryWaitsMs[queued.attempts]
      return yield* waitMs === undefined
        ? analyses.finish(call, nothing("error", answer.failure))
        : analyses.later(queued, waitMs)
    })

    yield* JobWorker.start({
      queue: analyses.queue,
      failed: "An analysis could not be made",
      keyOf: ({ session_id }) => [session_id],
      run: (queued) =>
        Effect.flatMap(analyses.load(queued), (call) => (call === undefined ? Effect.void : analyse(call, queued))),
      atOnce: 1,
      lookMs,
      pauseMs: lookMs
    })
  })
)

const unpaid = "the balance is spent"

const ask = ({ stream }: ChatModel, { config, transcript }: AnalysedCall): Effect.Effect<Outcome, string> =>
  stream({ messages: questionOf(config.analysis, transcript), tools: [], extra: {} }).pipe(
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
