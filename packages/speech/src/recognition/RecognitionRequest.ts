// What recognition of a recording is asked for and what it gives.
import type { SpokenWord } from "../ports/Transcriber.ts"

/** A recording to be recognised. */
export interface RecognitionRequest {
  /** Path of the uploaded file, container as it came. */
  readonly file: string
  /** ISO 639-1 hint; `""` for none. */
  readonly language: string
  readonly keyterms: ReadonlyArray<string>
  /** Told how much of the recording was read so far, in milliseconds. */
  readonly read?: (durationMs: number) => void
}

/** What was said in a recording, and when. */
export interface Recognised {
  /** Empty when nothing was said. */
  readonly text: string
  /** The whole recording, silence included. */
  readonly durationMs: number
  /** Times from the recording's first sample. */
  readonly words: ReadonlyArray<SpokenWord>
  /** ISO 639-1, where the recogniser tells it. */
  readonly language: string | undefined
}

/** How many recordings are worked on. */
export interface RecognitionOptions {
  /** Default 2, so that live calls keep their recognisers. */
  readonly atOnce?: number | undefined
  /** Beyond this many waiting ones a recognition fails with `Overloaded`. Default 8. */
  readonly mostWaiting?: number | undefined
}
