// SPDX-License-Identifier: GPL-3.0-only
// espeak-ng behind the synthesizer port, in one worker thread. A thread that died or stopped answering is replaced with
// the next phrase.
import { Worker } from "node:worker_threads"
import { Cause, Effect, Queue, Stream } from "effect"
import type { Scope } from "effect"
import { SpeechError } from "../../src/ports/SpeechError.ts"
import type { SpeechErrorReason } from "../../src/ports/SpeechError.ts"
import type { SpeechChunk, SynthesisRequest, Synthesizer, WordTime } from "../../src/ports/Synthesizer.ts"
import { estimateWords } from "../../src/WordEstimate.ts"
import { stopPlaces } from "./EspeakMessage.ts"
import type { EspeakWord, FromEspeak } from "./EspeakMessage.ts"

const provider = "espeak"
const prefix = "espeak:"
const ownRate = 175
const startMs = 15_000
const answerMs = 10_000
const mostJobs = 64

type Answers = Queue.Queue<FromEspeak, SpeechError | Cause.Done>
type Languages = (FromEspeak & { readonly _tag: "Ready" })["languages"]

/** Fails with `Unavailable` when the thread cannot start. */
export const makeEspeakSynthesizer: Effect.Effect<Synthesizer, SpeechError, Scope.Scope> = Effect.gen(function* () {
  const stops = new Int32Array(new SharedArrayBuffer(4 * stopPlaces))
  const jobs = new Map<number, Answers>()
  let ids = 0
  let thread: Worker | undefined
  let onReady: ((languages: Languages | undefined) => void) | undefined

  const lose = (lost: Worker) => {
    if (thread !== lost) return
    thread = undefined
    onReady?.(undefined)
    for (const answers of jobs.values())
      Queue.failCauseUnsafe(answers, Cause.fail(failure("Unavailable", "the thread died")))
    jobs.clear()
  }
  const running = (): Worker => {
    if (thread !== undefined) return thread
    const started = new Worker(new URL("./espeakThread.ts", import.meta.url), { workerData: stops, execArgv: [] })
    started.on("error", () => lose(started))
    started.on("exit", () => lose(started))
    started.on("message", (message: FromEspeak) => {
      if (message._tag === "Ready") return onReady?.(message.languages)
      const answers = jobs.get(message.id)
      if (answers === undefined) return
      if (message._tag === "Failed") Queue.failCauseUnsafe(answers, Cause.fail(failure("InvalidOutput", "refused")))
      else Queue.offerUnsafe(answers, message)
      if (message._tag === "Done") Queue.endUnsafe(answers)
    })
    thread = started
    return started
  }
  const kill = Effect.suspend(() => {
    const old = thread
    if (old === undefined) return Effect.void
    lose(old)
    return Effect.asVoid(Effect.promise(() => old.terminate()))
  })
  yield* Effect.addFinalizer(() => kill)
  const languages = yield* Effect.callback<Languages, SpeechError>((resume) => {
    onReady = (ready) =>
      resume(
        ready === undefined ? Effect.fail(failure("Unavailable", "the thread did not start")) : Effect.succeed(ready)
      )
    running()
  }).pipe(bounded(startMs))
  onReady = undefined

  const submit = (request: SynthesisRequest, language: string) =>
    Effect.acquireRelease(
      Effect.gen(function* () {
        if (jobs.size >= mostJobs) return yield* failure("Overloaded", "too much work is waiting")
        const id = ids++
        const answers: Answers = yield* Queue.unbounded<FromEspeak, SpeechError | Cause.Done>()
        Atomics.store(stops, id % stopPlaces, 0)
        jobs.set(id, answers)
        const rate = Math.round(ownRate * Math.min(2, Math.max(0.5, request.speed)))
        running().postMessage({ id, text: request.text, language, rate })
        return { id, answers }
      }),
      ({ answers, id }) =>
        Effect.suspend(() => {
          jobs.delete(id)
          Atomics.store(stops, id % stopPlaces, 1)
          return Queue.shutdown(answers)
        })
    )

  return {
    provider,
    voices: languages.map(({ language, name }) => ({ id: prefix + language, name, language: language.slice(0, 2) })),
    synthesize: (request) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const language = languageFor(languages, request)
          if (language === undefined) return yield* failure("LanguageNotSupported", "no voice speaks the language")
          const { answers } = yield* submit(request, language)
          const next = bounded(answerMs)(Queue.take(answers)).pipe(
            Effect.tapError((error) =>
              error._tag === "SpeechError" && error.reason === "Timeout" ? kill : Effect.void
            )
          )
          return speaking(next, request)
        })
      )
  }
})

const speaking = (
  next: Effect.Effect<FromEspeak, SpeechError | Cause.Done>,
  request: SynthesisRequest
): Stream.Stream<SpeechChunk, SpeechError> => {
  let lengthMs = 0
  return Stream.unfold<"sound" | "end", SpeechChunk, SpeechError, never>("sound", (stage) =>
    Effect.gen(function* () {
      if (stage === "end") return undefined
      const answer = yield* next
      if (answer._tag === "Sound") {
        lengthMs += (answer.samples.length * 1000) / answer.sampleRate
        const { sampleRate, samples } = answer
        return [{ _tag: "Audio", samples, sampleRate } satisfies SpeechChunk, "sound"] as const
      }
      if (lengthMs === 0) return yield* failure("InvalidOutput", "no audio")
      if (answer._tag !== "Done" || request.words === false) return undefined
      return [
        { _tag: "Words", words: wordsOf(request.text, answer.words, lengthMs) } satisfies SpeechChunk,
        "end"
      ] as const
    }).pipe(Effect.catch((error) => (error._tag === "SpeechError" ? Effect.fail(error) : Effect.succeed(undefined))))
  )
}

/** A word of the text begins with the first word the engine saw in it. */
const wordsOf = (text: string, spoken: ReadonlyArray<EspeakWord>, lengthMs: number): ReadonlyArray<WordTime> => {
  const words = [...text.matchAll(/\S+/g)].map((match) => ({
    text: match[0],
    from: match.index,
    to: match.index + match[0].length
  }))
  const pointOf = (index: number) => Array.from(text.slice(0, index)).length
  const starts = words.map(({ from, to }) => {
    const [first, end] = [pointOf(from), pointOf(to)]
    return spoken.find(({ at }) => at >= first && at < end)?.startMs
  })
  if (starts.includes(undefined)) return estimateWords(text, lengthMs)
  let before = 0
  return words.map(({ from, text, to }, i) => {
    const startMs = Math.min(lengthMs, Math.max(before, starts[i] ?? before))
    before = startMs
    return {
      text,
      from,
      to,
      startMs,
      endMs: Math.max(startMs, Math.min(lengthMs, starts[i + 1] ?? lengthMs)),
      exact: true
    }
  })
}

const languageFor = (languages: Languages, { language, voice }: SynthesisRequest): string | undefined => {
  const asked = languages.find((one) => prefix + one.language === voice)
  if (asked !== undefined) return asked.language
  const wanted = (language === "" || language === "auto" ? "en" : language).toLowerCase().replace("_", "-")
  const short = wanted.slice(0, 2)
  const fits = (test: (known: string) => boolean) => languages.find((one) => test(one.language))?.language
  return (
    fits((known) => known === wanted) ??
    fits((known) => known === short) ??
    fits((known) => known.startsWith(`${short}-`))
  )
}

const bounded =
  (ms: number) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | SpeechError> =>
    Effect.timeoutOrElse(effect, { duration: ms, orElse: () => Effect.fail(failure("Timeout", "no answer")) })

const failure = (reason: SpeechErrorReason, message: string): SpeechError =>
  new SpeechError({ reason, provider, message })
