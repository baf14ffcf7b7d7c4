// One Final for each commit of a call over ElevenLabs' realtime socket. A transcript's word times come in a message of
// their own right after it, or never: the transcript is held back for them a moment.
import { Effect, Result, Schema } from "effect"
import type { Fiber } from "effect"
import { languageCode } from "../openai/LanguageCode.ts"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"
import type { SpokenWord, TranscriptEvent } from "../ports/Transcriber.ts"
import { makeCommitQueue } from "../socket/CommitQueue.ts"
import type { CommitQueue } from "../socket/CommitQueue.ts"
import { reasonOfError } from "./StreamInputFrame.ts"

/** Longest wait for the word times of a transcript. */
const timesMs = 500

/** An utterance that was ended. */
export interface Commit {
  /** Where the utterance lies in all the audio of the call. */
  readonly startMs: number
  readonly lengthMs: number
  /** Its answer is not wanted. */
  readonly discarded: boolean
  /** False without any audio: answered here. */
  readonly asked: boolean
}

/** Messages of the service in, transcript events out. Does nothing once it failed or was stopped. */
export class ElevenLabsAnswers {
  readonly #fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly #onEvent: (event: TranscriptEvent) => void
  readonly #onFailure: (reason: SpeechErrorReason, message: string) => void
  readonly #commits: CommitQueue<Commit>
  readonly #clock = new WordClock()
  #isOver = false
  /** A transcript whose word times may still come. */
  #held: { readonly text: string; readonly timer: Fiber.Fiber<void> } | undefined
  /** Times of this transcript came too late or are not wanted. */
  #answeredText: string | undefined

  /** `finalMs`: commit to Final, at most. */
  constructor(
    fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>,
    finalMs: number,
    onEvent: (event: TranscriptEvent) => void,
    onFailure: (reason: SpeechErrorReason, message: string) => void
  ) {
    this.#fork = fork
    this.#onEvent = onEvent
    this.#onFailure = onFailure
    this.#commits = makeCommitQueue<Commit>(fork, finalMs, () => this.fail("Timeout", "no transcript came"))
  }

  get isOver(): boolean {
    return this.#isOver
  }

  stop(): void {
    this.#isOver = true
    this.#commits.clear()
  }

  /** `onFailure` is called once. */
  fail(reason: SpeechErrorReason, message: string): void {
    if (this.#isOver) return
    this.stop()
    this.#onFailure(reason, message)
  }

  /** Its Final comes in the order of the commits, at once when nothing was asked and nothing is awaited before it. */
  add(commit: Commit): void {
    this.#commits.add(commit)
    if (!commit.asked) this.#answerUnasked()
  }

  /** A frame of the socket. */
  receive(message: unknown): void {
    if (this.#isOver) return
    const decoded = decode(message)
    if (Result.isFailure(decoded)) return this.fail("InvalidOutput", "a message that is none")
    const { code, error, language_code, message_type, text = "", words } = decoded.success
    switch (message_type) {
      case "session_started":
        return
      case "partial_transcript":
        if (this.#commits.first() === undefined && text.trim() !== "") {
          this.#onEvent({ _tag: "Partial", text: text.trim() })
        }
        return
      case "committed_transcript":
        this.#answeredText = undefined
        return this.#hold(text)
      case "committed_transcript_with_timestamps":
        if (this.#held === undefined && this.#answeredText === text) {
          this.#answeredText = undefined
          return
        }
        return this.#answer(text, words ?? [], language_code)
      // Too little was said to be transcribed.
      case "commit_throttled":
      case "insufficient_audio_activity":
        return this.#answer("", [], undefined)
      default:
        if (error !== undefined && error !== null) this.fail(reasonOfError(message_type ?? error, code), "refused")
    }
  }

  #hold(text: string): void {
    if (this.#held !== undefined) this.#answer(this.#held.text, [], undefined)
    const late = Effect.andThen(
      Effect.sleep(timesMs),
      Effect.sync(() => {
        if (this.#isOver || this.#held === undefined) return
        this.#answeredText = this.#held.text
        this.#answer(this.#held.text, [], undefined)
      })
    )
    this.#held = { text, timer: this.#fork(late) }
  }

  #answer(text: string, words: ReadonlyArray<unknown>, language: unknown): void {
    this.#held?.timer.interruptUnsafe()
    this.#held = undefined
    const commit = this.#commits.shift()
    if (commit !== undefined && !commit.discarded) {
      const code = languageCode(language)
      const spoken = this.#clock.wordsOf(words, commit)
      this.#onEvent({ _tag: "Final", text: text.trim(), words: spoken, ...(code && { language: code }) })
    }
    this.#answerUnasked()
  }

  /** Commits without audio, once they are the next. */
  #answerUnasked(): void {
    while (this.#commits.first()?.asked === false) {
      const commit = this.#commits.shift()
      if (commit?.discarded === false) this.#onEvent({ _tag: "Final", text: "", words: [] })
    }
  }
}

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
