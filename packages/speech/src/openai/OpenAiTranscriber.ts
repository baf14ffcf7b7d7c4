// Any OpenAI-compatible `/audio/transcriptions` behind the transcriber port. Not streaming: the utterance is
// kept until its commit and then posted; answers come in the order of the commits. Utterances without sound
// are answered empty without asking, because such models invent words for silence.
import { Effect, Queue, Schema } from "effect"
import type { Scope } from "effect"
import { peak } from "@parley/audio/Level"
import { encodeWav } from "@parley/audio/Wav"
import type { SpeechError } from "../ports/SpeechError.ts"
import type { SpokenWord, Transcriber, TranscriptionOptions, TranscriptionStream } from "../ports/Transcriber.ts"
import { failure, post, provider, watched } from "./OpenAiEndpoint.ts"
import type { OpenAiEndpoint } from "./OpenAiEndpoint.ts"
import { languageCode } from "./LanguageCode.ts"
import { UtteranceBuffer } from "./UtteranceBuffer.ts"

/** Commits waiting for their turn; one more kills the stream as `Overloaded`. */
const mostWaiting = 8
/** Below -50 dBFS at its loudest, or shorter than 100 ms, nothing was said. */
const quietest = 0.003
const shortestMs = 100
const mostBytes = 4_000_000

export const makeOpenAiTranscriber = (endpoint: OpenAiEndpoint): Transcriber => ({
  provider,
  streaming: false,
  open: (options) => open(endpoint, options)
})

const open = Effect.fnUntraced(function* (
  endpoint: OpenAiEndpoint,
  options: TranscriptionOptions
): Effect.fn.Return<TranscriptionStream, never, Scope.Scope> {
  const buffer = new UtteranceBuffer()
  const commits = yield* Effect.acquireRelease(Queue.dropping<Utterance>(mostWaiting), Queue.shutdown)
  let dead = false
  const die = (error: SpeechError) => {
    if (dead) return
    dead = true
    Queue.shutdownUnsafe(commits)
    options.onFailure(error)
  }
  yield* Queue.take(commits).pipe(
    Effect.flatMap((utterance) => transcribe(endpoint, options, utterance)),
    Effect.tap((final) => Effect.sync(() => dead || options.onEvent({ _tag: "Final", ...final }))),
    Effect.forever,
    Effect.catch((error) => Effect.sync(() => die(error))),
    Effect.forkScoped
  )
  return {
    push: (samples) => buffer.push(samples),
    discard: () => buffer.take(),
    commit: () => {
      const taken = Queue.offerUnsafe(commits, buffer.take())
      // Refused also when the scope is closed: then nobody listens.
      if (!taken && Queue.sizeUnsafe(commits) >= mostWaiting) die(failure("Overloaded", "too many utterances waiting"))
    }
  }
})

type Utterance = ReturnType<UtteranceBuffer["take"]>

interface Transcript {
  readonly text: string
  readonly words: ReadonlyArray<SpokenWord>
  readonly language?: string
}

const transcribe = (
  endpoint: OpenAiEndpoint,
  options: TranscriptionOptions,
  { droppedMs, samples }: Utterance
): Effect.Effect<Transcript, SpeechError> => {
  if (samples.length < shortestMs * 16 || peak(samples) < quietest) return Effect.succeed({ text: "", words: [] })
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
