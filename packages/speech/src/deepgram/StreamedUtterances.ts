// Deepgram transcribes one endless stream; callers of the port have utterances. This keeps where each utterance lies in
// the stream, gives every recognised word to the one it was said in, and decides when a commit is answered: by the result
// that says so, or by results that reach its end. Pure: times are positions in the stream, in milliseconds.
import type { SpokenWord } from "../ports/Transcriber.ts"

/** One final result. */
export interface RecognisedPiece {
  readonly startMs: number
  readonly endMs: number
  /** Times in the stream. */
  readonly words: ReadonlyArray<SpokenWord>
  readonly fromFinalize: boolean
}

/** A committed utterance; word times in milliseconds from its first sample. */
export interface Utterance {
  readonly startMs: number
  readonly endMs: number
  readonly words: ReadonlyArray<SpokenWord>
}

/** Results and positions of the audio may differ by so much. */
const toleranceMs = 250

/** The utterances of one socket. Synchronous, without a clock. */
export class StreamedUtterances {
  #words: Array<SpokenWord> = []
  #startMs = 0
  readonly #commits: Array<{ readonly startMs: number; readonly endMs: number }> = []

  get waiting(): number {
    return this.#commits.length
  }

  /** The running utterance ends here and is answered later. */
  commit(endMs: number): void {
    this.#commits.push({ startMs: this.#startMs, endMs })
    this.#startMs = endMs
  }

  discard(endMs: number): void {
    this.#startMs = endMs
  }

  /** Commits that are answered by it, in order. */
  accept(piece: RecognisedPiece): ReadonlyArray<Utterance> {
    this.#words.push(...piece.words)
    const answered: Array<Utterance> = []
    for (;;) {
      const first = this.#commits[0]
      if (first === undefined) return answered
      // A result that says so may still be about an earlier commit, answered without it.
      const reached = piece.endMs >= first.endMs - (piece.fromFinalize ? toleranceMs : 1)
      if (!reached) return answered
      answered.push(this.#take(first))
    }
  }

  /** The first commit, with what was recognised of it. */
  giveUp(): Utterance | undefined {
    const first = this.#commits[0]
    return first === undefined ? undefined : this.#take(first)
  }

  /** What is recognised of the running utterance, with `piece` still open at its end. */
  running(piece: ReadonlyArray<SpokenWord>): ReadonlyArray<SpokenWord> {
    return this.#commits.length > 0 ? [] : [...this.#words, ...piece].filter((word) => middle(word) >= this.#startMs)
  }

  #take(commit: { readonly startMs: number; readonly endMs: number }): Utterance {
    this.#commits.shift()
    const { endMs, startMs } = commit
    const own = this.#words.filter((word) => middle(word) >= startMs && middle(word) < endMs + toleranceMs)
    this.#words = this.#words.filter((word) => middle(word) >= startMs && !own.includes(word))
    const inside = (ms: number) => Math.round(Math.min(endMs, Math.max(startMs, ms)) - startMs)
    return {
      startMs,
      endMs,
      words: own.map((word) => ({ text: word.text, startMs: inside(word.startMs), endMs: inside(word.endMs) }))
    }
  }
}

const middle = ({ endMs, startMs }: SpokenWord): number => (startMs + endMs) / 2
