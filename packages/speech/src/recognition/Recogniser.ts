// The actor behind `Recognition`: samples as they are decoded, utterances as they are found, texts as they are
// heard. Decoding runs at most a couple of utterances ahead of the transcriber; a recording is never whole in memory.
import { Effect, Semaphore, Stream } from "effect"
import type { Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpokenWord } from "../ports/Transcriber.ts"
import type { Recognised, RecognitionOptions, RecognitionRequest } from "./RecognitionRequest.ts"
import { Speech } from "../Speech.ts"
import { AudioFault, UploadedAudio } from "../upload/UploadedAudio.ts"
import { estimateWords } from "../WordEstimate.ts"
import { makeTranscriberSession } from "./TranscriberSession.ts"
import type { Final } from "./TranscriberSession.ts"
import { UtteranceSegmenter } from "./UtteranceSegmenter.ts"
import type { Utterance } from "./UtteranceSegmenter.ts"
import { openWindowVoices } from "./WindowVoices.ts"

const sampleRate = 16_000
const shortestMs = 80
const longestMs = 60 * 60_000
/** Utterances found ahead of the one that is being recognised. */
const utterancesAhead = 2

/** The use case behind `Recognition.recognise`: bounded in how many work and how many wait. */
export const makeRecognition = Effect.fnUntraced(function* (options: RecognitionOptions) {
  const { transcriber, voiceActivity } = yield* Speech
  const uploads = yield* UploadedAudio
  const atOnce = options.atOnce ?? 2
  const places = yield* Semaphore.make(atOnce)
  const mostTaken = atOnce + (options.mostWaiting ?? 8)
  let taken = 0

  const recognise = Effect.fnUntraced(function* (
    request: RecognitionRequest
  ): Effect.fn.Return<Recognised, AudioFault | SpeechError, Scope.Scope> {
    const voices = yield* openWindowVoices(voiceActivity)
    const session = yield* makeTranscriberSession(transcriber, request)
    const transcript = new Transcript()
    const utterances = uploads.pcm(request.file, sampleRate).pipe(
      Stream.tap((samples) => transcript.lengthen(samples.length)),
      Stream.tap(() => Effect.sync(() => request.read?.(transcript.durationMs))),
      Stream.mapEffect((samples) => voices.read(samples)),
      Stream.concat(Stream.sync(voices.rest)),
      Stream.mapAccum(
        () => new UtteranceSegmenter(),
        (segmenter, windows) => [
          segmenter,
          windows.flatMap(({ probability, samples }) => segmenter.push(samples, probability) ?? [])
        ],
        { onHalt: (segmenter) => [segmenter.finish()].filter((utterance) => utterance !== undefined) }
      ),
      Stream.buffer({ capacity: utterancesAhead })
    )
    yield* Stream.runForEach(utterances, (utterance) =>
      Effect.map(session.transcribe(utterance.samples), (final) => transcript.add(utterance, final))
    )
    return yield* transcript.whole
  })

  return (request: RecognitionRequest): Effect.Effect<Recognised, AudioFault | SpeechError> =>
    Effect.suspend(() => {
      if (taken >= mostTaken) return Effect.fail(overloaded)
      taken++
      return places
        .withPermits(1)(Effect.scoped(recognise(request)))
        .pipe(
          Effect.ensuring(
            Effect.sync(() => {
              taken--
            })
          )
        )
    })
})

class Transcript {
  #samples = 0
  readonly #texts: Array<string> = []
  readonly #words: Array<SpokenWord> = []
  /** Milliseconds spoken in each language. */
  readonly #languages = new Map<string, number>()

  get durationMs(): number {
    return this.#samples / 16
  }

  lengthen(samples: number): Effect.Effect<void, AudioFault> {
    this.#samples += samples
    return this.#samples > longestMs * 16 ? Effect.fail(tooLong) : Effect.void
  }

  add({ samples, startSample }: Utterance, { language, text, words }: Final): void {
    if (text === "") return
    this.#texts.push(text)
    const startMs = startSample / 16
    const endMs = startMs + samples.length / 16
    let cursorMs = startMs
    for (const word of words.length > 0 ? words : estimateWords(text, samples.length / 16)) {
      const from = Math.min(Math.max(startMs + word.startMs, cursorMs), endMs)
      const to = Math.min(Math.max(startMs + word.endMs, from), endMs)
      this.#words.push({ text: word.text, startMs: from, endMs: to })
      cursorMs = from
    }
    if (language !== undefined) {
      this.#languages.set(language, (this.#languages.get(language) ?? 0) + samples.length / 16)
    }
  }

  get whole(): Effect.Effect<Recognised, AudioFault> {
    return Effect.suspend(() => {
      const { durationMs } = this
      if (durationMs < shortestMs) return Effect.fail(tooShort)
      const language = [...this.#languages].sort((a, b) => b[1] - a[1])[0]?.[0]
      return Effect.succeed({ text: this.#texts.join(" "), durationMs, words: this.#words, language })
    })
  }
}

const tooShort = new AudioFault({ reason: "TooShort", message: "the recording is shorter than 0.08 seconds" })
const tooLong = new AudioFault({ reason: "TooLong", message: "the recording is longer than 60 minutes" })
const overloaded = new SpeechError({
  reason: "Overloaded",
  provider: "recognition",
  message: "too many recordings are waiting to be recognised"
})
