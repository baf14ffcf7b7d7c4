// The messages between the server and a recogniser process. Utterances are numbered by the server; an answer
// about an utterance that is no longer awaited is dropped there.
import type { SpokenWord } from "../ports/Transcriber.ts"

export type ToRecogniser =
  | { readonly _tag: "Audio"; readonly utterance: number; readonly samples: Int16Array }
  /** Answered by one `Final`. */
  | { readonly _tag: "Commit"; readonly utterance: number }
  | { readonly _tag: "Discard" }
  /** Another caller: forget what was learnt of the last one's line. */
  | { readonly _tag: "Reset" }

export type FromRecogniser =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Partial"; readonly utterance: number; readonly text: string }
  | {
      readonly _tag: "Final"
      readonly utterance: number
      readonly text: string
      readonly words: ReadonlyArray<SpokenWord>
    }
  /** This much audio has been worked through since the last report. */
  | { readonly _tag: "Digested"; readonly samples: number }
