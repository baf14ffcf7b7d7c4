// The engines of a call, made from the settings: speech and language models; and what of them serves, for /health.
import type { Provider } from "@parley/contract/Health"
import { Pacer } from "@parley/engine/playout/Pacer"
import { CallParts, type RunTool } from "@parley/engine/ports/CallParts"
import { type LlmSettings, LanguageModels } from "@parley/llm/LanguageModels"
import { Speech } from "@parley/speech/Speech"
import type { SpeechError } from "@parley/speech/ports/SpeechError"
import { KnowledgeSearch } from "@parley/workspace/knowledge/KnowledgeSearch"
import { SafeHttp } from "@parley/workspace/outbound/SafeHttp"
import { Effect, Layer } from "effect"
import { totalmem } from "node:os"
import type { Config } from "./Config.ts"
import type { Endpoint, EngineSettings } from "./config/engineSettings.ts"
import { mcpTools } from "@parley/app/tools/McpTools"
import { ConsultationCalls } from "@parley/app/calls/transfers/ConsultationCalls"
import { ServingHealth } from "@parley/app/ServingHealth"
import { webhookTools } from "@parley/app/tools/WebhookTools"
import { Settings } from "./Settings.ts"

/** What one embedded recogniser takes, with room to spare. */
const recogniserBytes = 120 * 2 ** 20

/** One for each call, in at most half of the machine's memory. */
const recognisers = ({ maxCalls }: Config): number =>
  Math.max(1, Math.min(maxCalls, Math.floor(totalmem() / 2 / recogniserBytes)))

/** Embedded recognisers beside those of the calls: for uploads, and for streams that are no calls. */
export const recordings = { atOnce: 2, live: 2 }

/** Calls at the same time. A call for which no recogniser is left is refused before it is answered. */
export const capacity = (config: Config): number =>
  isRecognitionEmbedded(config) ? recognisers(config) : config.maxCalls

/** Whether every recogniser is a process of this machine. */
export const isRecognitionEmbedded = (config: Config): boolean =>
  config.asr.providers.every((name) => name === "pocketsphinx")

/**
 * The engine waits 3 s for a final and 8 s for sound. Who answers later has failed before that, or nobody would know;
 * with another one at hand, early enough for it.
 */
const bounds = {
  asr: { beforeOthers: { firstByteMs: 2_300, gapMs: 2_000 }, last: { firstByteMs: 2_900, gapMs: 2_900 } },
  tts: { beforeOthers: { firstByteMs: 4_000, gapMs: 4_000 }, last: { firstByteMs: 7_500, gapMs: 5_000 } }
} as const

const boundsOf = (part: "asr" | "tts", { providers }: EngineSettings<string>) =>
  bounds[part][/^(flite|espeak|pocketsphinx)$/.test(providers.at(-1) ?? "") ? "beforeOthers" : "last"]

const speech = Layer.unwrap(
  Effect.map(Settings, (config) => {
    const { asr, tts } = config
    const speaking = tts.endpoint && { ...tts.endpoint, ...boundsOf("tts", tts) }
    const inTime = boundsOf("asr", asr)
    const recognition = asr.endpoint && { ...asr.endpoint, openMs: inTime.firstByteMs, finalMs: inTime.gapMs }
    const [voice, ...voices] = tts.voices.map((id) => ({ id, name: id, language: "" }))
    const streams = recordings.atOnce + recordings.live
    return Speech.layer({
      tts: tts.providers,
      asr: asr.providers,
      sherpaSpeech: folder(tts.modelFolder, { answerMs: boundsOf("tts", tts).firstByteMs }),
      sherpaTranscription: folder(asr.modelFolder, {
        finalMs: inTime.gapMs,
        mostStreams: config.maxCalls + streams,
        mostWaiting: config.maxCalls + streams
      }),
      openAiSpeech: speaking && {
        ...speaking,
        voice: voice?.id,
        voices: voice === undefined ? [] : [voice, ...voices]
      },
      openAiTranscription: asr.endpoint && { ...asr.endpoint, ...inTime },
      elevenLabsSpeech: speaking && voice && { ...speaking, voices: [voice, ...voices] },
      elevenLabsTranscription: recognition,
      deepgram: recognition,
      pocketSphinx: { poolSize: recognisers(config) + streams }
    })
  })
)

const folder = <Options>(modelFolder: string | undefined, options: Options) =>
  modelFolder === undefined ? undefined : { modelFolder, ...options }

const languageModels = Layer.unwrap(
  Effect.gen(function* () {
    const { llm } = yield* Settings
    return LanguageModels.layer({
      providers: llm.providers as LlmSettings["providers"],
      openai: llm.endpoint && { ...withModel(llm.endpoint, "default"), extraBody: llm.extraBody },
      customFetch: (yield* SafeHttp).fetch
    })
  })
)

const parts = Layer.effect(
  CallParts,
  Effect.gen(function* () {
    const { health, synthesizer, transcriber, voiceActivity } = yield* Speech
    const { chat } = yield* LanguageModels
    const search = yield* KnowledgeSearch
    const webhook = yield* webhookTools
    const openMcp = yield* mcpTools
    const { dial, referRefusal } = yield* ConsultationCalls
    // At the start only a recogniser that is not there at all is unhealthy.
    const { asr } = yield* health
    return {
      synthesizer,
      transcriber: asr.some((one) => one.healthy) ? transcriber : undefined,
      voiceActivity,
      chat,
      runTool: webhook,
      openTools: (plan) =>
        Effect.map(
          openMcp(plan),
          (mcp): RunTool =>
            (call) =>
              call.tool.mcp === undefined ? webhook(call) : mcp(call)
        ),
      dial,
      referRefusal,
      retrieve: ({ knowledge = [] }, text) => search.find(knowledge, text)
    }
  })
)

const serving = Layer.effect(
  ServingHealth,
  Effect.gen(function* () {
    const { health, voices } = yield* Speech
    const models = yield* LanguageModels
    return {
      snapshot: Effect.map(health, ({ asr, tts, vad }) => ({
        tts: ranked(
          tts,
          voices.map((voice) => voice.id)
        ),
        asr: ranked(asr),
        vad: ranked(vad),
        llm: ranked(models.health())
      }))
    }
  })
)

/** Servers with one model take any name; these are the names most of them expect. */
const withModel = (endpoint: Endpoint, fallback: string) => ({ ...endpoint, model: endpoint.model ?? fallback })

const demoLabel = "built-in rules, English, appointments only"

export const layer: Layer.Layer<
  CallParts | LanguageModels | Pacer | ServingHealth | Speech,
  SpeechError,
  ConsultationCalls | KnowledgeSearch | Settings | SafeHttp
> = Layer.mergeAll(serving, parts, Pacer.layer).pipe(Layer.provideMerge(Layer.mergeAll(languageModels, speech)))

/** The first healthy one serves, the healthy ones after it stand by. */
const ranked = (
  providers: ReadonlyArray<{ readonly provider: string; readonly healthy: boolean; readonly label?: string }>,
  voices?: ReadonlyArray<string>
): ReadonlyArray<Provider> => {
  const serves = providers.findIndex((one) => one.healthy)
  return providers.map((one, i) => ({
    name: one.provider,
    state: !one.healthy ? "down" : i === serves ? "up" : "standby",
    note: one.label ?? (one.provider === "demo" ? demoLabel : "OpenAI-compatible"),
    ...(voices === undefined ? {} : { voices })
  }))
}
