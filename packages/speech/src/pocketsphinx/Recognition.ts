// One caller's utterances on one decoder. Every pause inside an utterance closes a stretch of speech and runs
// its second pass at once, while the turn-taking still waits; when the commit comes only the tail is left to do.
import type { SpokenWord } from "../ports/Transcriber.ts"
import type { DecodedWord } from "./Decoder.ts"

/** The decoder as `Recognition` needs it. */
export interface StretchDecoder {
  readonly startStream: () => void
  readonly startUtterance: () => void
  readonly endUtterance: () => void
  readonly process: (samples: Int16Array) => void
  readonly inSpeech: boolean
  readonly text: string
  readonly words: ReadonlyArray<DecodedWord>
}

/** Utterances of one caller; word times in milliseconds from the utterance's first sample. */
export class Recognition {
  readonly #decoder: StretchDecoder
  #closed: Array<DecodedWord> = []
  #inSpeech = false
  #samples = 0
  #utteranceStart = 0

  constructor(decoder: StretchDecoder) {
    this.#decoder = decoder
    decoder.startStream()
    decoder.startUtterance()
  }

  /** Another caller begins. */
  reset(): void {
    this.#decoder.endUtterance()
    this.#decoder.startStream()
    this.#decoder.startUtterance()
    this.#inSpeech = false
    this.#samples = 0
    this.#begin()
  }

  /** The utterance so far. */
  accept(samples: Int16Array): string {
    this.#decoder.process(samples)
    this.#samples += samples.length
    const inSpeech = this.#decoder.inSpeech
    if (this.#inSpeech && !inSpeech) this.#close()
    this.#inSpeech = inSpeech
    const open = inSpeech ? this.#decoder.text : ""
    return [...this.#closed.map((word) => word.text), ...(open === "" ? [] : [open])].join(" ")
  }

  commit(): { readonly text: string; readonly words: ReadonlyArray<SpokenWord> } {
    if (this.#inSpeech) this.#close()
    const base = this.#utteranceStart / 16
    const words = this.#closed.map(({ endMs, startMs, text }) => ({
      text,
      startMs: Math.max(0, Math.round(startMs - base)),
      endMs: Math.max(0, Math.round(endMs - base))
    }))
    this.#begin()
    return { text: words.map((word) => word.text).join(" "), words }
  }

  discard(): void {
    if (this.#inSpeech) this.#close()
    this.#begin()
  }

  #close(): void {
    this.#decoder.endUtterance()
    this.#closed.push(...this.#decoder.words)
    this.#decoder.startUtterance()
    this.#inSpeech = false
  }

  #begin(): void {
    this.#closed = []
    this.#utteranceStart = this.#samples
  }
}
