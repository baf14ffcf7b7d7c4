// What the platform offers, from the settings: the names a configuration may use.
import * as OpenAiEmbeddings from "@parley/llm/openai/OpenAiEmbeddings"
import { Platform } from "@parley/workspace/Platform"
import { fliteVoices } from "@parley/speech/flite/FliteSynthesizer"
import { readSynthesisModel, type SynthesisModel } from "@parley/speech/sherpa/SynthesisModel"
import { Effect, Layer, Result } from "effect"
import type { Config } from "./Config.ts"
import { Settings } from "./Settings.ts"

export const platformLayer: Layer.Layer<Platform, never, Settings> = Layer.effect(
  Platform,
  Effect.map(Settings, (settings) => {
    const model = folderModel(settings)
    return {
      voices: new Set([
        ...(settings.tts.providers.includes("flite") ? fliteVoices.map(({ id }) => id) : []),
        ...(settings.tts.providers.includes("sherpa") ? (model?.speakers ?? []) : []),
        ...(settings.tts.endpoint === undefined ? [] : settings.tts.voices)
      ]),
      asrModels: [`${settings.vendor}:transcribe-1`],
      llmModels: llmModels(settings),
      allowedPrivate: settings.allowedPrivate,
      cloning: settings.tts.providers[0] === "sherpa" && model?.kind === "zipvoice",
      trialBalance: settings.trialBalance,
      callCountries: settings.callCountries,
      mostImports: settings.mostImports,
      vendor: settings.vendor,
      embedder: settings.embeddings && OpenAiEmbeddings.make(settings.embeddings)
    }
  })
)

/** What lies in the folder for sherpa, when it can be used. */
const folderModel = ({ tts }: Config): SynthesisModel | undefined =>
  tts.modelFolder === undefined ? undefined : Result.getOrElse(readSynthesisModel(tts.modelFolder), () => undefined)

/** The endpoint's own model name where it serves, `demo` for the built-in host. */
const llmModels = ({ llm }: Config): readonly [string, ...ReadonlyArray<string>] => {
  const [first = "demo", ...rest] = llm.providers.map((provider) =>
    provider === "openai" ? (llm.endpoint?.model ?? "default") : "demo"
  )
  return [first, ...rest]
}
