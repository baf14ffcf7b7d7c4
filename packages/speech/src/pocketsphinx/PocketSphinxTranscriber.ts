// PocketSphinx behind the transcriber port: English, wide-band, demo grade. Partials while the caller speaks;
// a commit after a pause is answered at once, because the pause already paid for the second pass. Keyterms
// have no meaning for its fixed language model.
import { Effect, Exit, Fiber, Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import type { Transcriber, TranscriptionOptions, TranscriptionStream } from "../ports/Transcriber.ts"
import { findPocketSphinx } from "./PocketSphinxInstallation.ts"
import type { PocketSphinxInstallation } from "./PocketSphinxInstallation.ts"
import type { FromRecogniser } from "./PocketSphinxMessage.ts"
import { makeRecogniserPool } from "./RecogniserPool.ts"
import type { RecogniserPool } from "./RecogniserPool.ts"
import type { RecogniserProcess } from "./RecogniserProcess.ts"

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

/** Audio is sent on in pieces of this many samples (50 ms). */
const batchSamples = 800
/** Audio sent and not yet worked through (30 s, about 2 s of its work); more is dropped. */
const backlogSamples = 16_000 * 30

/** Fails with `Unavailable` when the library or the model is not installed. The first process loads in the background. */
export const makePocketSphinxTranscriber = Effect.fnUntraced(function* (
  options: PocketSphinxOptions = {}
): Effect.fn.Return<Transcriber, SpeechError, Scope.Scope> {
  const installation = options.installation ?? findPocketSphinx()
  if (installation === undefined) {
    return yield* failure("Unavailable", "PocketSphinx or its English model is not installed")
  }
  const file = options.file ?? new URL("./recogniser.ts", import.meta.url)
  const pool = yield* makeRecogniserPool(
    { file, installation, startMs: options.startMs ?? 15_000 },
    options.poolSize ?? 4
  )
  // Unique in the pool: an answer still under way from a process's last call must not pass for this one's.
  let utterances = 0
  const nextUtterance = () => utterances++
  return {
    provider: "pocketsphinx",
    streaming: true,
    open: (opening) => open(pool, opening, options.finalMs ?? 5000, nextUtterance)
  }
})

const open = Effect.fnUntraced(function* (
  pool: RecogniserPool,
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
  const recogniser = yield* Scope.provide(pool.take, leaseScope)
  const fork = Effect.runForkWith(yield* Effect.context())
  const deadlines = new Map<number, Fiber.Fiber<void>>()
  let utterance = nextUtterance()

  const stop = () => {
    stopListening()
    for (const fiber of deadlines.values()) fork(Fiber.interrupt(fiber))
    deadlines.clear()
  }
  const die = (error: SpeechError): void => {
    stop()
    fork(Scope.close(leaseScope, Exit.void))
    opening.onFailure(error)
  }
  const upstream = new Upstream(recogniser)
  const stopListening = recogniser.listen({
    onExit: () => die(failure("Unavailable", "the recogniser process died")),
    onMessage: (message: FromRecogniser) => {
      if (message._tag === "Digested") upstream.digested(message.samples)
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
  recogniser.tell({ _tag: "Reset" })

  return {
    push: (samples) => upstream.push(samples, utterance),
    commit: () => {
      upstream.flush(utterance)
      recogniser.tell({ _tag: "Commit", utterance })
      const late = Effect.andThen(
        Effect.sleep(finalMs + upstream.backlogMs),
        // A process that does not answer is not handed to the next call.
        Effect.sync(() => {
          stopListening()
          recogniser.kill()
          die(failure("Timeout", "the recogniser did not answer"))
        })
      )
      deadlines.set(utterance, fork(late))
      utterance = nextUtterance()
    },
    discard: () => {
      upstream.clear()
      recogniser.tell({ _tag: "Discard" })
      utterance = nextUtterance()
    }
  }
})

/** Gathers small pushes into batches and drops what the process could not digest in time. */
class Upstream {
  readonly #recogniser: RecogniserProcess
  readonly #batch = new Int16Array(batchSamples)
  #filled = 0
  #backlog = 0

  constructor(recogniser: RecogniserProcess) {
    this.#recogniser = recogniser
  }

  get backlogMs(): number {
    return this.#backlog / 16
  }

  push(samples: Int16Array, utterance: number): void {
    for (let at = 0; at < samples.length;) {
      const part = samples.subarray(at, at + batchSamples - this.#filled)
      this.#batch.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === batchSamples) this.flush(utterance)
    }
  }

  flush(utterance: number): void {
    const samples = this.#batch.slice(0, this.#filled)
    this.#filled = 0
    if (samples.length === 0 || this.#backlog + samples.length > backlogSamples) return
    this.#backlog += samples.length
    this.#recogniser.tell({ _tag: "Audio", utterance, samples })
  }

  clear(): void {
    this.#filled = 0
  }

  digested(samples: number): void {
    this.#backlog = Math.max(0, this.#backlog - samples)
  }
}

const failure = (reason: "Unavailable" | "Timeout" | "LanguageNotSupported", message: string): SpeechError =>
  new SpeechError({ reason, provider: "pocketsphinx", message })
