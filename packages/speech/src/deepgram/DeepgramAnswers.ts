// One Final for each commit of a Deepgram call. Since Finalize need not be answered when little was said, a commit is
// also answered by what was recognised so far, once nothing more has come for a while. A service that gave no result at
// all for a voice is dead instead.
import type { Effect, Fiber } from "effect"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"
import type { SpokenWord, TranscriptEvent } from "../ports/Transcriber.ts"
import { makeCommitQueue } from "../socket/CommitQueue.ts"
import type { CommitQueue } from "../socket/CommitQueue.ts"
import { messageOf } from "./DeepgramMessage.ts"
import { StreamedUtterances } from "./StreamedUtterances.ts"
import type { Utterance } from "./StreamedUtterances.ts"

interface Commit {
  /** A voice was in it. */
  readonly audible: boolean
  readonly resultsBefore: number
}

/** Messages of the service in, transcript events out. Does nothing once it failed or was stopped. */
export class DeepgramAnswers {
  readonly #onEvent: (event: TranscriptEvent) => void
  readonly #onFailure: (reason: SpeechErrorReason, message: string) => void
  readonly #utterances = new StreamedUtterances()
  readonly #commits: CommitQueue<Commit>
  readonly #quiet: CommitQueue<undefined>
  #isOver = false
  /** So far; when the running utterance began. */
  #results = 0
  #resultsBefore = 0

  /** `finalMs`: commit to Final, at most. `quietMs`: without a message, until a commit is answered as it stands. */
  constructor(
    fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>,
    bounds: { readonly finalMs: number; readonly quietMs: number },
    onEvent: (event: TranscriptEvent) => void,
    onFailure: (reason: SpeechErrorReason, message: string) => void
  ) {
    this.#onEvent = onEvent
    this.#onFailure = onFailure
    this.#commits = makeCommitQueue<Commit>(fork, bounds.finalMs, () => {
      if (!this.#answerAsItStands()) this.fail("Timeout", "no results came")
    })
    this.#quiet = makeCommitQueue<undefined>(fork, bounds.quietMs, () => this.#answerAsItStands())
  }

  get isOver(): boolean {
    return this.#isOver
  }

  stop(): void {
    this.#isOver = true
    this.#commits.clear()
    this.#quiet.clear()
  }

  /** `onFailure` is called once. */
  fail(reason: SpeechErrorReason, message: string): void {
    if (this.#isOver) return
    this.stop()
    this.#onFailure(reason, message)
  }

  /** A frame of the socket. */
  receive(json: unknown): void {
    if (this.#isOver) return
    const message = messageOf(json)
    if (message._tag === "Garbage") return this.fail("InvalidOutput", "a message that is none")
    if (message._tag === "Error") return this.fail("Unavailable", "refused")
    if (message._tag === "Other") return
    this.#results++
    if (message.isFinal) for (const utterance of this.#utterances.accept(message)) this.#answer(utterance)
    const text = textOf(this.#utterances.running(message.isFinal ? [] : message.words))
    if (text !== "" && !message.fromFinalize) this.#onEvent({ _tag: "Partial", text })
  }

  /** The running utterance ends at `sentMs` of the call's audio. */
  commit(sentMs: number, audible: boolean): void {
    this.#utterances.commit(sentMs)
    this.#commits.add({ audible, resultsBefore: this.#resultsBefore })
    this.#resultsBefore = this.#results
    this.#quiet.add(undefined)
  }

  discard(sentMs: number): void {
    this.#utterances.discard(sentMs)
    this.#resultsBefore = this.#results
  }

  #answer(utterance: Utterance): void {
    this.#commits.shift()
    this.#quiet.shift()
    this.#onEvent({ _tag: "Final", text: textOf(utterance.words), words: utterance.words })
  }

  /** False when nothing at all came although there was a voice. */
  #answerAsItStands(): boolean {
    const first = this.#commits.first()
    if (this.#isOver || first === undefined) return true
    if (first.audible && this.#results === first.resultsBefore) return false
    const utterance = this.#utterances.giveUp()
    if (utterance !== undefined) this.#answer(utterance)
    return true
  }
}

const textOf = (words: ReadonlyArray<SpokenWord>): string =>
  words
    .map((word) => word.text)
    .join(" ")
    .trim()
