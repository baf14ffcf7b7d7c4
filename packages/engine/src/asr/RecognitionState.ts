// What recognition of one speaker has heard and answered so far: shared by the callbacks of voice activity and of the
// recogniser, which run on the media thread, and by the fibers that reopen a recogniser and bound its answers. Every
// committed utterance is answered once, by `answer`.
import type { SpeechError } from "@parley/speech/ports/SpeechError"
import type { TranscriptEvent, TranscriptionStream } from "@parley/speech/ports/Transcriber"
import { Deferred, Effect, Queue } from "effect"
import type { Signal } from "../turn/Signal.ts"
import { Utterance } from "./Utterance.ts"
import * as Voicing from "./Voicing.ts"

/** A committed utterance, by its number from 1, and the moment (ms since the call began) its words are due. */
export interface DueAnswer {
  readonly utterance: number
  readonly dueAt: number
}

/** Mutable, without a clock or I/O of its own. `tell` gets `VoicePaused`, `Partial` and `Final`. */
export class RecognitionState {
  readonly #tell: (signal: Signal) => void
  readonly #due: Queue.Queue<DueAnswer>
  readonly utterance = new Utterance()
  voicing = Voicing.quiet
  /** The recogniser that is open; null while the next one is opened. */
  stream: TranscriptionStream | null = null
  /** Done when the open recogniser is to be replaced; null: it owed an answer for too long. */
  broken = Deferred.makeUnsafe<SpeechError | null>()
  committed = 0
  answered = 0
  /** Recognisers lost in a row without an answer between them. */
  losses = 0
  #partial = ""

  constructor(tell: (signal: Signal) => void, due: Queue.Queue<DueAnswer>) {
    this.#tell = tell
    this.#due = due
  }

  /** The words of the oldest utterance without an answer. */
  answer(text: string): void {
    this.answered++
    this.#partial = ""
    if (!this.voicing.voiced && this.answered === this.committed) this.utterance.forget()
    this.#tell({ _tag: "Final", text })
  }

  /** Answers all utterances up to this one with the newest partial text. */
  answerUpTo(utterance: number): void {
    for (let missing = utterance - this.answered; missing > 0; missing--) this.answer(this.#partial)
  }

  onEvent(event: TranscriptEvent): void {
    if (event._tag === "Final") {
      this.losses = 0
      if (this.answered < this.committed) this.answer(event.text)
    } else if (event.text !== this.#partial) {
      this.#partial = event.text
      this.#tell({ _tag: "Partial", text: event.text })
    }
  }

  fail(error: SpeechError | null): void {
    this.stream = null
    Deferred.doneUnsafe(this.broken, Effect.succeed(error))
  }

  /** The utterance is over: its words are asked for, and due at `dueAt`. */
  commit(lastVoicedAt: number, dueAt: number): void {
    this.committed++
    this.#tell({ _tag: "VoicePaused", lastVoicedAt })
    Queue.offerUnsafe(this.#due, { utterance: this.committed, dueAt })
    this.stream?.commit()
  }

  /** A fresh recogniser hears again what was being said when the last one died; its unanswered commits too. */
  resume(stream: TranscriptionStream): void {
    this.stream = stream
    if (this.voicing.voiced || this.answered < this.committed) this.utterance.replay((frame) => stream.push(frame))
    for (let i = this.answered; i < this.committed; i++) stream.commit()
  }
}
