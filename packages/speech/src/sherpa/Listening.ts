// Callers of a streaming recogniser: each utterance is a stream of its own in the one engine process, each commit is
// answered by its Final within a bound, and audio that the engine cannot keep up with is dropped.
import { Effect, Exit, Fiber, Scope } from "effect"
import type { SpeechError } from "../ports/SpeechError.ts"
import type { TranscriptionOptions, TranscriptionStream } from "../ports/Transcriber.ts"
import { failure } from "./EngineProcess.ts"
import type { Engine, EngineProcess } from "./EngineProcess.ts"
import type { FromListener, ToListener } from "./SherpaMessage.ts"
import { wordsOf } from "./TokenWords.ts"

export interface ListeningBounds {
  /** Callers at once; one more is refused as `Overloaded`. */
  readonly mostStreams: number
  /** Commit to Final, at most; the length of what was not worked through by then comes on top. */
  readonly finalMs: number
  /** Longest wait for the engine when a caller comes. */
  readonly openMs: number
}

/** Audio is sent on in pieces of this many samples (50 ms). */
const batchSamples = 800
/** Audio sent and not yet worked through (30 s); more is dropped. */
const backlogSamples = 16_000 * 30

type Open = (options: TranscriptionOptions) => Effect.Effect<TranscriptionStream, SpeechError, Scope.Scope>

export const makeListening = (process: EngineProcess<ToListener, FromListener>, bounds: ListeningBounds): Open => {
  let present = 0
  let numbers = 0
  const nextNumber = () => numbers++
  const enter = Effect.suspend(() =>
    present < bounds.mostStreams
      ? Effect.sync(() => present++)
      : Effect.fail(failure("Overloaded", "the recogniser hears as many callers as it may"))
  )
  return Effect.fnUntraced(function* (options) {
    yield* Effect.acquireRelease(enter, () => Effect.sync(() => present--))
    const engine = yield* Effect.timeoutOrElse(process.engine, {
      duration: bounds.openMs,
      orElse: () => Effect.fail(failure("Timeout", "the recogniser is not ready"))
    })
    return yield* listen(engine, options, bounds.finalMs, nextNumber)
  })
}

const listen = Effect.fnUntraced(function* (
  engine: Engine<ToListener, FromListener>,
  options: TranscriptionOptions,
  finalMs: number,
  nextNumber: () => number
): Effect.fn.Return<TranscriptionStream, never, Scope.Scope> {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const fork = Effect.runForkWith(yield* Effect.context())
  const caller = nextNumber()
  const upstream = new Upstream(engine, caller)
  const deadlines = new Map<number, Fiber.Fiber<void>>()
  let utterance = nextNumber()
  let stopListening: (() => void) | undefined

  const stop = () => {
    stopListening?.()
    for (const fiber of deadlines.values()) fork(Fiber.interrupt(fiber))
    for (const open of [...deadlines.keys(), utterance]) engine.tell({ _tag: "Discard", caller, utterance: open })
    deadlines.clear()
  }
  const die = (error: SpeechError): void => {
    stop()
    fork(Scope.close(scope, Exit.void))
    options.onFailure(error)
  }
  const hear = (message: FromListener): void => {
    if (message._tag === "Ready" || message.caller !== caller) return
    if (message._tag === "Digested") upstream.digested(message.samples)
    if (message._tag === "Failed") die(failure("InvalidOutput", "the recogniser refused its work"))
    if (message._tag === "Partial" && message.utterance === utterance) {
      options.onEvent({ _tag: "Partial", text: message.text })
    }
    if (message._tag !== "Final") return
    const deadline = deadlines.get(message.utterance)
    if (deadline === undefined) return
    deadlines.delete(message.utterance)
    fork(Fiber.interrupt(deadline))
    engine.served()
    const { hypothesis, lengthMs } = message
    options.onEvent({ _tag: "Final", text: hypothesis.text.trim(), words: wordsOf(hypothesis, lengthMs) })
  }
  yield* Scope.addFinalizer(scope, Effect.sync(stop))
  stopListening = engine.listen({
    onMessage: hear,
    onExit: () => die(failure("Unavailable", "the recogniser process died"))
  })

  return {
    push: (samples) => upstream.push(samples, utterance),
    commit: () => {
      upstream.flush(utterance)
      engine.tell({ _tag: "Commit", caller, utterance })
      const late = Effect.andThen(
        Effect.sleep(finalMs + upstream.backlogMs),
        // All callers share this process: one that does not answer one of them answers none.
        Effect.sync(() => {
          stopListening?.()
          die(failure("Timeout", "the recogniser did not answer"))
          engine.kill()
        })
      )
      deadlines.set(utterance, fork(late))
      utterance = nextNumber()
    },
    discard: () => {
      upstream.clear()
      engine.tell({ _tag: "Discard", caller, utterance })
      utterance = nextNumber()
    }
  }
})

/** Gathers small pushes into batches and drops what the process could not digest in time. */
class Upstream {
  readonly #engine: Engine<ToListener, FromListener>
  readonly #caller: number
  readonly #batch = new Int16Array(batchSamples)
  #filled = 0
  #backlog = 0

  constructor(engine: Engine<ToListener, FromListener>, caller: number) {
    this.#engine = engine
    this.#caller = caller
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
    this.#engine.tell({ _tag: "Audio", caller: this.#caller, utterance, samples })
  }

  clear(): void {
    this.#filled = 0
  }

  digested(samples: number): void {
    this.#backlog = Math.max(0, this.#backlog - samples)
  }
}
