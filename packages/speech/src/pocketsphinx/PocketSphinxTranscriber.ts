// PocketSphinx behind the transcriber port: English, wide-band, demo grade. Partials while the caller speaks;
// a commit after a pause is answered at once, because the pause already paid for the second pass. Keyterms
// have no meaning for its fixed language model.
import { Effect, Exit, Fiber, Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import type { Transcriber, TranscriptionOptions, TranscriptionStream } from "../ports/Transcriber.ts"
import { findPocketSphinx } from "./PocketSphinxInstallation.ts"
import type { PocketSphinxInstallation } from "./PocketSphinxInstallation.ts"
import { AudioBacklog } from "../utterance/AudioBacklog.ts"
import { makeWorkerLeases } from "../workers/WorkerLeases.ts"
import type { WorkerLeases } from "../workers/WorkerLeases.ts"
import { speechErrorOf } from "../workers/speechErrorOf.ts"
import type { FromRecogniser, ToRecogniser } from "./PocketSphinxMessage.ts"

const provider = "pocketsphinx"

/** Sizes and bounds of the recogniser. */
export interface PocketSphinxOptions {
  /** Streams at once, about 100 MB each. Default 4. */
  readonly poolSize?: number
  /** Commit to Final, at most; the length of what was not worked through by then comes on top. Default 5 s. */
  readonly finalMs?: number
  /** Default 15 s. */
  readonly startMs?: number
  /** What `findPocketSphinx` found; looked for when not given. */
  readonly installation?: PocketSphinxInstallation | undefined
  /** The child's file; tests put in one that misbehaves. */
  readonly file?: URL
}

type Recognisers = WorkerLeases<ToRecogniser, FromRecogniser>

/** Fails with `Unavailable` when the library or the model is not installed. The first process loads in the background. */
export const makePocketSphinxTranscriber = Effect.fnUntraced(function* (
  options: PocketSphinxOptions = {}
): Effect.fn.Return<Transcriber, SpeechError, Scope.Scope> {
  const installation = options.installation ?? findPocketSphinx()
  if (installation === undefined) {
    return yield* failure("Unavailable", "PocketSphinx or its English model is not installed")
  }
  const recognisers: Recognisers = yield* makeWorkerLeases<ToRecogniser, FromRecogniser>({
    program: {
      kind: "process",
      file: options.file ?? new URL("./recogniser.ts", import.meta.url),
      name: "pocketsphinx",
      argument: installation
    },
    isReady: (message) => (message as FromRecogniser)._tag === "Ready",
    startMs: options.startMs ?? 15_000,
    size: options.poolSize ?? 4,
    warm: 1
  })
  // Unique in the pool: an answer still under way from a process's last call must not pass for this one's.
  let utterances = 0
  const nextUtterance = () => utterances++
  return {
    provider,
    streaming: true,
    open: (opening) => open(recognisers, opening, options.finalMs ?? 5000, nextUtterance)
  }
})

const open = Effect.fnUntraced(function* (
  recognisers: Recognisers,
  opening: TranscriptionOptions,
  finalMs: number,
  nextUtterance: () => number
): Effect.fn.Return<TranscriptionStream, SpeechError, Scope.Scope> {
  if (!/^(en([-_].*)?|auto|)$/i.test(opening.language)) {
    return yield* failure("LanguageNotSupported", "the recogniser knows English only")
  }
  // The process and the watch over its answers go together, whether the call ends or the process dies.
  const callScope = yield* Effect.scope
  const leaseScope = yield* Scope.fork(callScope)
  const recogniser = yield* Scope.provide(Effect.mapError(recognisers.take, speechErrorOf(provider)), leaseScope)
  const fork = Effect.runForkWith(yield* Effect.context())
  const deadlines = new Map<number, Fiber.Fiber<void>>()
  let utterance = nextUtterance()
  let isOver = false

  const stop = () => {
    isOver = true
    stopListening()
    for (const fiber of deadlines.values()) fork(Fiber.interrupt(fiber))
    deadlines.clear()
  }
  const die = (error: SpeechError): void => {
    stop()
    fork(Scope.close(leaseScope, Exit.void))
    opening.onFailure(error)
  }
  const backlog = new AudioBacklog((samples, utterance) => recogniser.post({ _tag: "Audio", utterance, samples }))
  const stopListening = recogniser.listen({
    onExit: () => die(failure("Unavailable", "the recogniser process died")),
    onMessage: (message) => {
      recogniser.served()
      if (message._tag === "Digested") backlog.digested(message.samples)
      if (message._tag === "Partial" && message.utterance === utterance) {
        opening.onEvent({ _tag: "Partial", text: message.text })
      }
      if (message._tag === "Final") {
        const deadline = deadlines.get(message.utterance)
        if (deadline === undefined) return
        deadlines.delete(message.utterance)
        fork(Fiber.interrupt(deadline))
        opening.onEvent({ _tag: "Final", text: message.text, words: message.words })
      }
    }
  })
  yield* Scope.addFinalizer(leaseScope, Effect.sync(stop))
  recogniser.post({ _tag: "Reset" })

  return {
    push: (samples) => {
      if (!isOver) backlog.push(samples, utterance)
    },
    commit: () => {
      if (isOver) return
      backlog.flush(utterance)
      recogniser.post({ _tag: "Commit", utterance })
      const late = Effect.andThen(
        Effect.sleep(finalMs + backlog.backlogMs),
        // A process that does not answer is not handed to the next call.
        Effect.sync(() => {
          stopListening()
          recogniser.kill("no answer to a commit")
          die(failure("Timeout", "the recogniser did not answer"))
        })
      )
      deadlines.set(utterance, fork(late))
      utterance = nextUtterance()
    },
    discard: () => {
      backlog.clear()
      recogniser.post({ _tag: "Discard" })
      utterance = nextUtterance()
    }
  }
})

const failure = (reason: "Unavailable" | "Timeout" | "LanguageNotSupported", message: string): SpeechError =>
  new SpeechError({ reason, provider, message })
