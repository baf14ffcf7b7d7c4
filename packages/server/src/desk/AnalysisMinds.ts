// Who analyses calls that are over: the model that held them. The built-in rules hold a conversation and cannot think
// about one.
import { Mind } from "@parley/llm/Mind"
import { AnalysisMind } from "@parley/workspace/analysis/Analyst"
import { Secrets } from "@parley/workspace/Secrets"
import { Effect, Layer } from "effect"
import { Settings } from "../Settings.ts"
import { llmChoice } from "./llmChoice.ts"

export const layer: Layer.Layer<AnalysisMind, never, Mind | Secrets | Settings> = Layer.effect(
  AnalysisMind,
  Effect.gen(function* () {
    const { chat } = yield* Mind
    const secrets = yield* Secrets
    const { llm } = yield* Settings
    return {
      chat: (config) => {
        const choice = llmChoice(config, secrets.open)
        return choice.kind === "default" && !llm.providers.includes("openai") ? undefined : chat(choice)
      }
    }
  })
)
