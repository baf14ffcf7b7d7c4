// Any OpenAI-compatible `/audio/transcriptions` behind the transcriber port. Not streaming: the utterance is
// kept until its commit and then posted.
import { Effect, Schema } from "effect"
import { encodeWav } from "@parley/audio/Wav"
import type { SpeechError } from "../ports/SpeechError.ts"
import type { Transcriber, TranscriptionOptions } from "../ports/Transcriber.ts"
import { failure, post, provider, watched } from "./OpenAiEndpoint.ts"
import type { OpenAiEndpoint } from "./OpenAiEndpoint.ts"
import { languageCode } from "./LanguageCode.ts"
import { openUtterances } from "../utterance/UtteranceStream.ts"
import type { Transcript, Utterance } from "../utterance/UtteranceStream.ts"

const mostBytes = 4_000_000

/** One request for each committed utterance. */
export const makeOpenAiTranscriber = (endpoint: OpenAiEndpoint): Transcriber => ({
  provider,
  streaming: false,
  open: (options) => openUtterances(provider, options, (utterance) => transcribe(endpoint, options, utterance))
})

const transcribe = (
  endpoint: OpenAiEndpoint,
  options: TranscriptionOptions,
  { droppedMs, samples }: Utterance
): Effect.Effect<Transcript, SpeechError> => {
  const form = () => {
    const form = new FormData()
    form.set("file", new Blob([encodeWav(samples, 16_000).slice()], { type: "audio/wav" }), "speech.wav")
    form.set("model", endpoint.model)
    if (/^[a-z]{2}([-_]|$)/i.test(options.language)) form.set("language", options.language.slice(0, 2))
    if (options.keyterms.length > 0) form.set("prompt", options.keyterms.join(", "))
    form.set("response_format", "verbose_json")
    form.set("timestamp_granularities[]", "word")
    for (const [name, value] of Object.entries(endpoint.extraBody ?? {})) {
      form.set(name, typeof value === "string" ? value : JSON.stringify(value))
    }
    return form
  }
  return Effect.scoped(
    Effect.gen(function* () {
      const answer = yield* post(endpoint, "/audio/transcriptions", form)
      const { language, text, words } = yield* decodeAnswer(yield* readAll(endpoint, answer)).pipe(
        Effect.mapError(() => failure("InvalidOutput", "the answer is not a transcription"))
      )
      const code = languageCode(language)
      return {
        ...(code === undefined ? {} : { language: code }),
        text: text.trim(),
        words: (words ?? []).map(({ end, start, word }) => ({
          text: word.trim(),
          startMs: Math.round(droppedMs + start * 1000),
          endMs: Math.round(droppedMs + end * 1000)
        }))
      }
    })
  )
}

const readAll = Effect.fnUntraced(function* (endpoint: OpenAiEndpoint, answer: Parameters<typeof watched>[0]) {
  const read = watched(answer, endpoint.gapMs ?? 5000, () => 0)
  const parts: Array<Uint8Array> = []
  let length = 0
  while (true) {
    const bytes = yield* read
    if (bytes === undefined) return Buffer.concat(parts).toString("utf8")
    length += bytes.length
    if (length > mostBytes) return yield* failure("InvalidOutput", "the answer is too long")
    parts.push(bytes)
  }
})

const decodeAnswer = Schema.decodeUnknownEffect(
  Schema.fromJsonString(
    Schema.Struct({
      text: Schema.String,
      language: Schema.optional(Schema.Unknown),
      words: Schema.optional(
        Schema.NullOr(Schema.Array(Schema.Struct({ word: Schema.String, start: Schema.Finite, end: Schema.Finite })))
      )
    })
  )
)
