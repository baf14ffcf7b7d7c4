// The recogniser's C library as a class. It can abort its process and its calls block, so it lives in a child
// process only. Frames are 10 ms and count from the stream's start; silence never reaches the search.
import koffi from "koffi"
import type { PocketSphinxInstallation } from "./PocketSphinxInstallation.ts"

/** A word and its time from the start of the stream. */
export interface DecodedWord {
  readonly text: string
  readonly startMs: number
  readonly endMs: number
}

/** Bounds the search on bad audio, where it would fall behind real time; free on clean speech. */
const searchBounds = ["-maxhmmpf", "3000", "-maxwpf", "10"]

/** Frames of silence that end a stretch of speech: its second pass is over before the turn is. */
const pauseFrames = "30"

/** One decoder of the library. Every call blocks its thread. */
export class Decoder {
  readonly #library
  readonly #decoder: unknown

  /** Takes 0.3 to 0.7 s. Throws when the model does not load. */
  constructor(installation: PocketSphinxInstallation) {
    this.#library = bind(installation)
    const args = [
      "pocketsphinx",
      "-hmm",
      installation.acousticModel,
      "-lm",
      installation.languageModel,
      "-dict",
      installation.dictionary,
      "-vad_postspeech",
      pauseFrames,
      "-logfn",
      "/dev/null",
      ...searchBounds
    ]
    const config = this.#library.parse(null, this.#library.args(), args.length, args, 1)
    this.#decoder = config === null ? null : this.#library.init(config)
    if (this.#decoder === null) throw new Error("the recogniser did not load its model")
  }

  /** A new line with its own noise; before the first utterance. */
  startStream(): void {
    this.#library.startStream(this.#decoder)
  }

  startUtterance(): void {
    this.#library.startUtterance(this.#decoder, null)
  }

  /** The second pass: `text` and `words` are final after it. */
  endUtterance(): void {
    this.#library.endUtterance(this.#decoder)
  }

  process(samples: Int16Array): void {
    this.#library.process(this.#decoder, samples, samples.length, 0, 0)
  }

  /** Turns false a moment after the voice stopped. */
  get inSpeech(): boolean {
    return this.#library.inSpeech(this.#decoder) !== 0
  }

  get text(): string {
    return this.#library.hypothesis(this.#decoder, null) ?? ""
  }

  get words(): ReadonlyArray<DecodedWord> {
    const words: Array<DecodedWord> = []
    const start = [0]
    const end = [0]
    let segment: unknown = this.#library.segments(this.#decoder, null)
    while (segment !== null) {
      const word = this.#library.segmentWord(segment) ?? ""
      this.#library.segmentFrames(segment, start, end)
      if (/^[a-z]/i.test(word)) {
        words.push({
          text: word.replace(/\(\d+\)$/, ""),
          startMs: (start[0] ?? 0) * 10,
          endMs: ((end[0] ?? 0) + 1) * 10
        })
      }
      segment = this.#library.nextSegment(segment)
    }
    return words
  }
}

/** Second arguments that newer builds of the same interface dropped are passed as null, which both accept. */
const bind = (installation: PocketSphinxInstallation) => {
  const base = koffi.load(installation.baseLibrary)
  const library = koffi.load(installation.library)
  return {
    parse: base.func("void *cmd_ln_parse_r(void *into, void *defn, int argc, const char **argv, int strict)"),
    args: library.func("void *ps_args()"),
    init: library.func("void *ps_init(void *config)"),
    startStream: library.func("int ps_start_stream(void *ps)"),
    startUtterance: library.func("int ps_start_utt(void *ps, void *id)"),
    endUtterance: library.func("int ps_end_utt(void *ps)"),
    process: library.func("int ps_process_raw(void *ps, const int16_t *data, size_t n, int no_search, int full_utt)"),
    inSpeech: library.func("uint8_t ps_get_in_speech(void *ps)"),
    hypothesis: library.func("const char *ps_get_hyp(void *ps, void *score)"),
    segments: library.func("void *ps_seg_iter(void *ps, void *score)"),
    nextSegment: library.func("void *ps_seg_next(void *seg)"),
    segmentWord: library.func("const char *ps_seg_word(void *seg)"),
    segmentFrames: library.func("void ps_seg_frames(void *seg, _Out_ int *sf, _Out_ int *ef)")
  }
}
