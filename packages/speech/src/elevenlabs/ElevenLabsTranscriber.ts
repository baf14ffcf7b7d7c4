// Any service with the realtime recognition socket of layer A, another Parley among them, behind the transcriber port:
// one socket for each call, commits by hand. The protocol knows no discard: what is discarded is committed and its
// answer left unread.
import { Effect, Exit, Result, Schema, Scope } from "effect"
import type { Redacted } from "effect"
import { pcmBytes } from "@parley/audio/Wav"
import { languageCode } from "../openai/LanguageCode.ts"
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"
import type { SpokenWord, Transcriber, TranscriptionOptions, TranscriptionStream } from "../ports/Transcriber.ts"
import { makeCommitLine } from "../socket/CommitLine.ts"
import { keyHeader, openSocket } from "../socket/ProviderSocket.ts"
import { PcmBatches } from "../socket/PcmBatches.ts"
import { provider, reasonOfError } from "./StreamInputFrame.ts"

export interface ElevenLabsSettings {
  /** Before `/v1/speech-to-text`. Another Parley's is `{base}/compat/elevenlabs`. */
  readonly baseUrl: string
  readonly apiKey?: Redacted.Redacted | undefined
  readonly model: string
  /** Handshake, at most. Default 10 s. */
  readonly openMs?: number | undefined
  /** Commit to Final, at most. Default 5 s. */
  readonly finalMs?: number | undefined
}

/** A transcript's word times come in a message of their own right after it. */
const timesMs = 500
/** Bytes the network has not taken; the call goes on without hearing what is beyond. */
const mostBacklog = 2 ** 20

interface Commit {
  /** Where the utterance lies in all the audio of the call. */
  readonly startMs: number
  readonly lengthMs: number
  readonly discarded: boolean
  /** False without any audio: answered here. */
  readonly asked: boolean
}

export const makeElevenLabsTranscriber = (settings: ElevenLabsSettings): Transcriber => ({
  provider,
  streaming: true,
  open: (options) => open(settings, options)
})

const open = Effect.fnUntraced(function* (
  settings: ElevenLabsSettings,
  options: TranscriptionOptions
): Effect.fn.Return<TranscriptionStream, SpeechError, Scope.Scope> {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const fork = Effect.runForkWith(yield* Effect.context())
  let over = false
  const stop = () => {
    over = true
    line.clear()
  }
  const die = (reason: SpeechErrorReason, message: string): void => {
    if (over) return
    stop()
    fork(Scope.close(scope, Exit.void))
    options.onFailure(new SpeechError({ reason, provider, message }))
  }
  const line = makeCommitLine<Commit>(fork, settings.finalMs ?? 5000, () => die("Timeout", "no transcript came"))
  yield* Scope.addFinalizer(scope, Effect.sync(stop))

  const clock = new WordClock()
  /** A transcript whose word times may still come. */
  let held: { readonly text: string; readonly timer: { readonly cancel: () => void } } | undefined
  /** Times of this transcript came too late or are not wanted. */
  let told: string | undefined

  const answer = (text: string, words: ReadonlyArray<unknown>, language: unknown): void => {
    held?.timer.cancel()
    held = undefined
    const commit = line.shift()
    if (commit !== undefined && !commit.discarded) {
      const code = languageCode(language)
      const spoken = clock.wordsOf(words, commit)
      options.onEvent({ _tag: "Final", text: text.trim(), words: spoken, ...(code && { language: code }) })
    }
    answerUnasked()
  }
  /** Commits without audio, once they are the next. */
  const answerUnasked = (): void => {
    while (line.first()?.asked === false) {
      const commit = line.shift()
      if (commit?.discarded === false) options.onEvent({ _tag: "Final", text: "", words: [] })
    }
  }
  const hold = (text: string): void => {
    if (held !== undefined) answer(held.text, [], undefined)
    const late = Effect.andThen(
      Effect.sleep(timesMs),
      Effect.sync(() => {
        if (over || held === undefined) return
        told = held.text
        answer(held.text, [], undefined)
      })
    )
    const fiber = fork(late)
    held = { text, timer: { cancel: () => fiber.interruptUnsafe() } }
  }
  const hear = (message: unknown): void => {
    if (over) return
    const decoded = decode(message)
    if (Result.isFailure(decoded)) return die("InvalidOutput", "a message that is none")
    const { code, error, language_code, message_type, text = "", words } = decoded.success
    switch (message_type) {
      case "session_started":
        return
      case "partial_transcript":
        if (line.first() === undefined && text.trim() !== "") options.onEvent({ _tag: "Partial", text: text.trim() })
        return
      case "committed_transcript":
        told = undefined
        return hold(text)
      case "committed_transcript_with_timestamps":
        if (held === undefined && told === text) {
          told = undefined
          return
        }
        return answer(text, words ?? [], language_code)
      // Too little was said to be transcribed.
      case "commit_throttled":
      case "insufficient_audio_activity":
        return answer("", [], undefined)
      default:
        if (error !== undefined && error !== null) die(reasonOfError(message_type ?? error, code), "refused")
    }
  }

  const opened = openSocket(
    {
      provider,
      url: addressOf(settings, options),
      headers: keyHeader("xi-api-key", settings.apiKey),
      openMs: settings.openMs ?? 10_000
    },
    { onMessage: hear, onEnd: ({ code }) => die(code === 1008 ? "Unauthorized" : "Unavailable", `closed with ${code}`) }
  )
  const socket = yield* Scope.provide(opened, scope).pipe(Effect.onError(() => Scope.close(scope, Exit.void)))
  const send = (audio: string, commit: boolean) =>
    socket.sendJson({ message_type: "input_audio_chunk", audio_base_64: audio, commit, sample_rate: 16_000 })
  const batches = new PcmBatches((samples) => {
    if (socket.backlog() < mostBacklog) send(Buffer.from(pcmBytes(samples)).toString("base64"), false)
  })
  let startMs = 0
  let pushed = 0
  const end = (discarded: boolean) => {
    if (over) return
    batches.flush()
    const commit = { startMs, lengthMs: pushed / 16, discarded, asked: pushed > 0 }
    startMs += pushed / 16
    pushed = 0
    if (!commit.asked && discarded) return
    line.add(commit)
    if (commit.asked) send("", true)
    else answerUnasked()
  }
  return {
    push: (samples) => {
      if (over) return
      pushed += samples.length
      batches.push(samples)
    },
    commit: () => end(false),
    discard: () => end(true)
  }
})

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const decode = Schema.decodeUnknownResult(
  Schema.Struct({
    message_type: Schema.optionalKey(Schema.String),
    text: Schema.optionalKey(Schema.String),
    words: maybe(Schema.Array(Schema.Unknown)),
    language_code: maybe(Schema.Unknown),
    error: maybe(Schema.Unknown),
    code: maybe(Schema.Unknown)
  })
)

const decodeWord = Schema.decodeUnknownResult(
  Schema.Struct({
    text: Schema.String,
    start: Schema.Finite,
    end: Schema.Finite,
    type: Schema.optionalKey(Schema.String)
  })
)

/** Some services time words from the begin of the session, some from the utterance's: their first misfit tells. */
class WordClock {
  #fromUtterance = false

  wordsOf(given: ReadonlyArray<unknown>, { lengthMs, startMs }: Commit): ReadonlyArray<SpokenWord> {
    const words = given.flatMap((word) => {
      const decoded = decodeWord(word)
      if (Result.isFailure(decoded)) return []
      const { end, start, text, type } = decoded.success
      return (type === undefined || type === "word") && text.trim() !== "" ? [{ end, start, text: text.trim() }] : []
    })
    if (words.some(({ start }) => start * 1000 < startMs - 200)) this.#fromUtterance = true
    const base = this.#fromUtterance ? 0 : startMs
    const inside = (ms: number) => Math.round(Math.min(lengthMs, Math.max(0, ms)))
    return words.map(({ end, start, text }) => {
      const from = inside(start * 1000 - base)
      return { text, startMs: from, endMs: Math.max(from, inside(end * 1000 - base)) }
    })
  }
}

const addressOf = (settings: ElevenLabsSettings, options: TranscriptionOptions): URL => {
  const url = new URL(`${settings.baseUrl.replace(/\/+$/, "")}/v1/speech-to-text/realtime`)
  url.searchParams.set("model_id", settings.model)
  url.searchParams.set("commit_strategy", "manual")
  url.searchParams.set("audio_format", "pcm_16000")
  url.searchParams.set("include_timestamps", "true")
  if (/^[a-z]{2}([-_]|$)/i.test(options.language)) {
    url.searchParams.set("language_code", options.language.slice(0, 2).toLowerCase())
  }
  for (const term of options.keyterms) url.searchParams.append("keyterms", term)
  return url
}
