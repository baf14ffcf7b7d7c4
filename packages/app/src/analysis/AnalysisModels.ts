// The model that analyses a call that is over: the one that spoke in it. The built-in demo host can hold a conversation but
// not judge one, so it analyses none.
import { LanguageModels } from "@parley/llm/LanguageModels"
import { AnalysisModel } from "@parley/workspace/analysis/Analyst"
import { secretOwner } from "@parley/workspace/storage/SecretOwner"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { Effect, Layer } from "effect"
import { AppSettings } from "../AppSettings.ts"
import { llmChoice } from "../plan/llmChoice.ts"

export const layer: Layer.Layer<AnalysisModel, never, LanguageModels | Secrets | AppSettings> = Layer.effect(
  AnalysisModel,
  Effect.gen(function* () {
    const { chat } = yield* LanguageModels
    const secrets = yield* Secrets
    const { hasJudgingModel } = yield* AppSettings
    return {
      chat: (config, agentId) => {
        const choice = llmChoice(config, secrets.of(secretOwner.agent(agentId)).open)
        return choice.kind === "default" && !hasJudgingModel ? undefined : chat(choice)
      }
    }
  })
)
