// The port of live speech recognition. One stream serves one call: audio goes in by plain calls from
// the media plane; text comes out through one callback, also plain. Utterances are cut by the caller of
// this port: `commit` closes the running utterance, and each commit is answered by exactly one `Final`,
// in order, with empty text when nothing was said.
import type { Effect, Scope } from "effect"
import type { SpeechError } from "./SpeechError.ts"

/** What a stream is opened with. The callbacks are called synchronously and must not throw. */
export interface TranscriptionOptions {
  /** ISO 639-1 hint. */
  readonly language: string
  /** Words to favour. */
  readonly keyterms: ReadonlyArray<string>
  readonly onEvent: (event: TranscriptEvent) => void
  /** The stream is dead; no event follows. Called at most once, never after the scope closed. */
  readonly onFailure: (error: SpeechError) => void
}

/** A recognised word and when it was said. */
export interface SpokenWord {
  readonly text: string
  /** Milliseconds from the utterance's first pushed sample. */
  readonly startMs: number
  readonly endMs: number
}

export type TranscriptEvent =
  /** The running utterance so far; replaces the partial before. */
  | { readonly _tag: "Partial"; readonly text: string }
  | {
      readonly _tag: "Final"
      readonly text: string
      readonly words: ReadonlyArray<SpokenWord>
      /** ISO 639-1, from recognisers that tell it. */
      readonly language?: string | undefined
    }

/** Plain calls from the media plane; after a failure or the end of the scope they do nothing. */
export interface TranscriptionStream {
  /** Mono 16 kHz PCM of any length. Copies what it keeps; never blocks; drops when its queue is over its bound. */
  readonly push: (samples: Int16Array) => void
  /** The utterance is over. */
  readonly commit: () => void
  /** Forget the running utterance without an answer. */
  readonly discard: () => void
}

/** The port of live recognition. `open` fails with `Unavailable`, `Overloaded`, `Timeout` or `LanguageNotSupported`. */
export interface Transcriber {
  readonly provider: string
  /** True when `Partial`s come while the caller still speaks. */
  readonly streaming: boolean
  readonly open: (options: TranscriptionOptions) => Effect.Effect<TranscriptionStream, SpeechError, Scope.Scope>
}
