// Transcription in the ElevenLabs-compatible API: which options are refused, and its form of a transcript.
import type { Recognised } from "@parley/speech/Recognition"
import type { Scalar } from "../../http/body/MessagePackFile.ts"

type Fields = ReadonlyMap<string, ReadonlyArray<Scalar>>

/** Spellings of "no". */
const falsy = /^(false|0|off|no|none|null|)$/i

/** Refused, unless their value is one of the spellings of "no". */
const refusedOptions = [
  "diarize",
  "use_multi_channel",
  "entity_detection",
  "entity_redaction",
  "entity_redaction_mode",
  "no_verbatim",
  "tag_audio_events",
  "additional_formats",
  "webhook",
  "webhook_id",
  "source_url",
  "cloud_storage_url"
] as const

/** The first option that is asked for and not offered. */
export const refusedOption = (fields: Fields, query: URLSearchParams): string | undefined => {
  const asks = (name: string) => (fields.get(name) ?? []).some((value) => !falsy.test(String(value).trim()))
  const named = refusedOptions.find((name) => asks(name) || !falsy.test(query.get(name) ?? ""))
  if (named !== undefined) return named
  const granularity = fields.get("timestamps_granularity")?.[0]
  if (granularity === "character") return "timestamps_granularity=character"
  const logging = query.get("enable_logging") ?? fields.get("enable_logging")?.[0]
  return logging !== undefined && logging !== null && falsy.test(String(logging)) ? "enable_logging=false" : undefined
}

/** Words and the spaces between them, as entries of their own; times in seconds. */
export const wordsOf = (words: Recognised["words"]) =>
  words.flatMap(({ endMs, startMs, text }, i) => {
    const word = { text, start: seconds(startMs), end: seconds(endMs), type: "word", ...constants }
    const before = words[i - 1]
    if (before === undefined) return [word]
    const times = { start: seconds(before.endMs), end: seconds(Math.max(before.endMs, startMs)) }
    return [{ text: " ", ...times, type: "spacing", ...constants }, word]
  })

const untimed = (entries: ReturnType<typeof wordsOf>) =>
  entries.map(({ text, type }) => ({ text, start: null, end: null, type, ...constants }))

/** Speakers are not told apart and probabilities not known: the same for every entry. */
const constants = { speaker_id: null, logprob: 0 }

/** The body of the answer. `fields`: of the request; `timestamps_granularity: none` leaves the times out. */
export const transcriptOf = (recognised: Recognised, fields: Fields) => ({
  language_code: String(fields.get("language_code")?.[0] ?? ""),
  language_probability: 1,
  text: recognised.text,
  words:
    fields.get("timestamps_granularity")?.[0] === "none"
      ? untimed(wordsOf(recognised.words))
      : wordsOf(recognised.words)
})

const seconds = (ms: number): number => Math.round(ms) / 1000

/** Three-letter codes of the languages that have speakers here, as hints. */
const shortCodes: Readonly<Record<string, string>> = {
  eng: "en",
  deu: "de",
  ger: "de",
  fra: "fr",
  fre: "fr",
  spa: "es",
  ita: "it",
  por: "pt",
  nld: "nl",
  pol: "pl",
  rus: "ru",
  jpn: "ja",
  zho: "zh",
  kor: "ko",
  ara: "ar",
  hin: "hi",
  tur: "tr"
}

/** The recogniser's hint: ISO 639-1, or none. */
export const hintOf = (code: string): string => (/^[a-z]{2}$/.test(code) ? code : (shortCodes[code] ?? ""))
