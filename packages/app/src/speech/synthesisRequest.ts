// A body of POST /v1/tts as a request of the service: every default of the API in one place.
import type { OutputFormat, PcmRate } from "@parley/audio/encode/OutputFormat"
import { BadRequest } from "@parley/contract/Errors"
import { longestText, type TtsModel, type TtsRequest } from "@parley/contract/speech/TtsRequest"
import { Effect } from "effect"
import type { SynthesisRequest } from "./SpeechRequests.ts"

/** What a request has beside its body. */
export interface RequestContext {
  readonly workspaceId: string
  readonly model: TtsModel
  /** Whether the answer carries word times. */
  readonly timing: boolean
}

/** `request`: checked by its schema; its text is not looked at. */
export const synthesisRequest = (
  request: TtsRequest,
  { model, timing, workspaceId }: RequestContext
): SynthesisRequest => ({
  workspaceId,
  model,
  voiceIds: [request.reference_id ?? []].flat(),
  references: request.references ?? [],
  settings: {
    language: "",
    format: formatOf(request),
    speed: request.prosody?.speed ?? 1,
    volumeDb: request.prosody?.volume ?? 0,
    normalizeLoudness: request.prosody?.normalize_loudness ?? true,
    normalize: request.normalize ?? true,
    latency: request.latency ?? "balanced",
    chunkLength: request.chunk_length ?? 200,
    minChunkLength: request.min_chunk_length ?? 50,
    // 0 is no bound, as nothing is.
    longestChunkMs: request.max_new_tokens ? (request.max_new_tokens * 1000) / tokensPerSecond : undefined,
    cues: model === "s1" ? "parentheses" : "brackets",
    timing,
    extra: samplingOf(request)
  }
})

/** The text; 400 when it is blank or longer than 100,000 characters. */
export const speakable = (text: string): Effect.Effect<string, BadRequest> =>
  text.length > longestText
    ? Effect.fail(new BadRequest({ message: `text: must be at most ${longestText} characters` }))
    : text.trim() === ""
      ? Effect.fail(new BadRequest({ message: "text: must not be empty" }))
      : Effect.succeed(text)

const formatOf = (request: TtsRequest): OutputFormat => {
  const codec = request.format ?? "mp3"
  switch (codec) {
    case "mp3":
      return { codec, sampleRate: request.sample_rate === 32_000 ? 32_000 : 44_100, kbps: request.mp3_bitrate ?? 128 }
    case "opus":
      return { codec, sampleRate: 48_000, bitsPerSecond: opusBitsOf(request.opus_bitrate ?? -1000) }
    case "wav":
    case "pcm":
      // The schema lets no other rate through.
      return { codec, sampleRate: (request.sample_rate ?? 44_100) as PcmRate }
  }
}

/** Undefined for automatic; small numbers are kilobits. */
const opusBitsOf = (bitrate: number): number | undefined =>
  bitrate < 0 ? undefined : bitrate < 1000 ? bitrate * 1000 : bitrate

/** What the original's codec makes of a second of sound; engines here count in time. */
const tokensPerSecond = 21.5

const samplingOf = (request: TtsRequest): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    sampling.flatMap((name) => (request[name] === undefined || request[name] === null ? [] : [[name, request[name]]]))
  )

const sampling = [
  "temperature",
  "top_p",
  "repetition_penalty",
  "max_new_tokens",
  "early_stop_threshold",
  "condition_on_previous_chunks"
] as const
