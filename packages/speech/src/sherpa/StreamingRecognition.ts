// Callers of a streaming recogniser: each utterance is a stream of its own in the one engine process, each commit is
// answered by its Final within a bound, and audio that the engine cannot keep up with is dropped.
import { Effect, Exit, Fiber, Scope } from "effect"
import type { SpeechError } from "../ports/SpeechError.ts"
import type { TranscriptionOptions, TranscriptionStream } from "../ports/Transcriber.ts"
import { AudioBacklog } from "../utterance/AudioBacklog.ts"
import type { RunningWorker } from "../workers/RunningWorker.ts"
import type { SupervisedWorker } from "../workers/SupervisedWorker.ts"
import { speechErrorOf } from "../workers/speechErrorOf.ts"
import { failure, provider } from "./sherpaProcess.ts"
import type { FromRecogniser, ToRecogniser } from "./SherpaMessage.ts"
import { wordsOf } from "./TokenWords.ts"

/** Bounds of the streams of one process. */
export interface StreamBounds {
  /** Callers at once; one more is refused as `Overloaded`. */
  readonly mostStreams: number
  /** Commit to Final, at most; the length of what was not worked through by then comes on top. */
  readonly finalMs: number
  /** Longest wait for the engine when a caller comes. */
  readonly openMs: number
}

type Open = (options: TranscriptionOptions) => Effect.Effect<TranscriptionStream, SpeechError, Scope.Scope>

/** The `open` of the port. Fails with `Overloaded`, `Timeout` or `Unavailable`. */
export const makeStreamingRecognition = (
  process: SupervisedWorker<ToRecogniser, FromRecogniser>,
  bounds: StreamBounds
): Open => {
  let callers = 0
  let numbers = 0
  const nextNumber = () => numbers++
  const enter = Effect.suspend(() =>
    callers < bounds.mostStreams
      ? Effect.sync(() => callers++)
      : Effect.fail(failure("Overloaded", "the recogniser has as many callers as it takes"))
  )
  return Effect.fnUntraced(function* (options) {
    yield* Effect.acquireRelease(enter, () => Effect.sync(() => callers--))
    const engine = yield* Effect.timeoutOrElse(Effect.mapError(process.ready, speechErrorOf(provider)), {
      duration: bounds.openMs,
      orElse: () => Effect.fail(failure("Timeout", "the recogniser is not ready"))
    })
    return yield* openCaller(engine, options, bounds.finalMs, nextNumber)
  })
}

const openCaller = Effect.fnUntraced(function* (
  engine: RunningWorker<ToRecogniser, FromRecogniser>,
  options: TranscriptionOptions,
  finalMs: number,
  nextNumber: () => number
): Effect.fn.Return<TranscriptionStream, never, Scope.Scope> {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const fork = Effect.runForkWith(yield* Effect.context())
  const caller = nextNumber()
  const backlog = new AudioBacklog((samples, utterance) => engine.post({ _tag: "Audio", caller, utterance, samples }))
  const deadlines = new Map<number, Fiber.Fiber<void>>()
  let utterance = nextNumber()
  let stopListening: (() => void) | undefined
  let isOver = false

  const stop = () => {
    isOver = true
    stopListening?.()
    for (const fiber of deadlines.values()) fork(Fiber.interrupt(fiber))
    for (const open of [...deadlines.keys(), utterance]) engine.post({ _tag: "Discard", caller, utterance: open })
    deadlines.clear()
  }
  const die = (error: SpeechError): void => {
    stop()
    fork(Scope.close(scope, Exit.void))
    options.onFailure(error)
  }
  const receive = (message: FromRecogniser): void => {
    if (message._tag === "Ready" || message.caller !== caller) return
    if (message._tag === "Digested") backlog.digested(message.samples)
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
    onMessage: receive,
    onExit: () => die(failure("Unavailable", "the recogniser process died"))
  })

  return {
    push: (samples) => {
      if (!isOver) backlog.push(samples, utterance)
    },
    commit: () => {
      if (isOver) return
      backlog.flush(utterance)
      engine.post({ _tag: "Commit", caller, utterance })
      const late = Effect.andThen(
        Effect.sleep(finalMs + backlog.backlogMs),
        // All callers share this process: one that does not answer one of them answers none.
        Effect.sync(() => {
          stopListening?.()
          die(failure("Timeout", "the recogniser did not answer"))
          engine.kill("no answer to a commit")
        })
      )
      deadlines.set(utterance, fork(late))
      utterance = nextNumber()
    },
    discard: () => {
      backlog.clear()
      engine.post({ _tag: "Discard", caller, utterance })
      utterance = nextNumber()
    }
  }
})
