// The body of POST /v1/tts, of its timestamped sibling, and of `start` on the live sockets. Null counts as absent, as
// SDKs send it. A field that is not known here is left alone: newer SDKs have more of them.
import { Schema } from "effect"
import { defaulted, listOf, numberBetween, text, wholeBetween } from "../Field.ts"

/** `model` header. Omitted and unknown ones run on the first. */
export const ttsModels = ["s2.1-pro", "s2.1-pro-free", "s2-pro", "s1"] as const
/** Names of models; all are served by the same engine. */
export type TtsModel = (typeof ttsModels)[number]

/** The model of a header; the first for an unknown one. */
export const ttsModelOf = (header: string | undefined): TtsModel =>
  ttsModels.find((model) => model === header?.trim()) ?? ttsModels[0]

/** Longest text of one request in UTF-16 units; beyond it 400. */
export const longestText = 100_000

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const sampleRates = { mp3: [32_000, 44_100], wav: pcmRates(), pcm: pcmRates(), opus: [48_000] } as const

function pcmRates() {
  return [8_000, 16_000, 24_000, 32_000, 44_100] as const
}

/** SDKs say kilobits where the document says bits: both are taken. -1000 is automatic. */
const opusBitrates = [-1000, 24, 32, 48, 64, 24_000, 32_000, 48_000, 64_000] as const

const Prosody = Schema.Struct({
  /** Pace; 1 is the voice's own. */
  speed: maybe(numberBetween(0.5, 2)),
  /** Decibels. */
  volume: maybe(numberBetween(-20, 20)),
  normalize_loudness: maybe(Schema.Boolean)
})

const requestOf = <Audio extends Schema.Top>(audio: Audio) =>
  Schema.Struct({
    text: text(2 ** 25),
    /** Id of a voice model; several for texts with `<|speaker:N|>` tags. */
    reference_id: maybe(Schema.Union([text(256), listOf(text(256), 16)])),
    references: maybe(listOf(Schema.Struct({ audio, text: text(10_000) }), 20)),
    format: defaulted(Schema.NullOr(Schema.Literals(["mp3", "wav", "pcm", "opus"])), "mp3"),
    mp3_bitrate: maybe(Schema.Literals([64, 128, 192])),
    opus_bitrate: maybe(Schema.Literals(opusBitrates)),
    sample_rate: maybe(Schema.Finite),
    prosody: maybe(Prosody),
    latency: maybe(Schema.Literals(["low", "balanced", "normal"])),
    chunk_length: maybe(wholeBetween(100, 300)),
    min_chunk_length: maybe(wholeBetween(0, 100)),
    normalize: maybe(Schema.Boolean),
    temperature: maybe(numberBetween(0, 1)),
    top_p: maybe(numberBetween(0, 1)),
    repetition_penalty: maybe(numberBetween(0, 10)),
    max_new_tokens: maybe(wholeBetween(0, 32_768)),
    early_stop_threshold: maybe(numberBetween(0, 1)),
    condition_on_previous_chunks: maybe(Schema.Boolean)
  }).check(
    Schema.makeFilter(({ format, sample_rate }) => {
      const rates: ReadonlyArray<number> = sampleRates[format ?? "mp3"]
      return sample_rate == null || rates.includes(sample_rate)
        ? undefined
        : { path: ["sample_rate"], issue: `must be ${rates.join(", ")} for ${format ?? "mp3"}` }
    })
  )

/** As JSON: reference audio is base64. */
export const TtsRequest = requestOf(Schema.Uint8ArrayFromBase64)
export type TtsRequest = typeof TtsRequest.Type

/** As MessagePack: reference audio is binary. */
export const TtsRequestBinary = requestOf(Schema.Uint8Array)
