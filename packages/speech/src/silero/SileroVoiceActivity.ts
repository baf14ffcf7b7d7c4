// Silero VAD behind its port: one thread for all streams. Windows are gathered a few milliseconds when many
// streams are open, and sent at once when few are. A thread that dies is replaced; the streams go on with fresh
// state and miss the windows in between.
import { Worker } from "node:worker_threads"
import { Deferred, Duration, Effect } from "effect"
import type { Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import { windowSamples } from "../ports/VoiceActivity.ts"
import type { VoiceActivity } from "../ports/VoiceActivity.ts"
import { threadReady } from "./SileroBatch.ts"
import type { SileroAnswer } from "./SileroBatch.ts"
import { WindowGatherer } from "./WindowGatherer.ts"

export interface SileroOptions {
  /** Longest time for the thread to load the model. Default 15 s. */
  readonly startMs?: number
  /** The thread's program; tests put in one that misbehaves. */
  readonly program?: URL
}

/** Longest wait for the runtime before the thread is stopped all the same. */
const loadMs = 5_000
/** A thread that lived this long is replaced at once when it dies. */
const settledMs = 30_000

/** The thread starts in the background; `open` waits for it. */
export const makeSileroVoiceActivity: (options?: SileroOptions) => Effect.Effect<VoiceActivity, never, Scope.Scope> =
  Effect.fnUntraced(function* (options = {}) {
    const startMs = options.startMs ?? 15_000
    const program = options.program ?? new URL("./sileroThread.ts", import.meta.url)
    const gatherer = new WindowGatherer()
    const up = yield* Deferred.make<void>()

    const serve = Effect.gen(function* () {
      const loaded = Deferred.makeUnsafe<void>()
      const worker = yield* Effect.acquireRelease(
        Effect.sync(() => {
          // The runtime reports its use to its maker unless the process says this; a thread's own copy is not read.
          process.env["ORT_DISABLE_TELEMETRY"] = "1"
          return new Worker(program, { execArgv: [], name: "silero" })
        }),
        // A thread that is stopped while the runtime still loads takes the whole process down.
        (worker) =>
          Deferred.await(loaded).pipe(
            Effect.timeoutOption(loadMs),
            Effect.andThen(Effect.promise(() => worker.terminate()))
          )
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => gatherer.disconnect()))
      yield* Effect.callback<never, SpeechError>((resume) => {
        const gone = () => {
          Deferred.doneUnsafe(loaded, Effect.void)
          resume(Effect.fail(failure("Unavailable", "the thread died")))
        }
        worker.on("error", gone)
        worker.on("exit", gone)
        worker.on("message", (message: SileroAnswer | typeof threadReady) => {
          if (message !== threadReady) return gatherer.answered(message.probabilities)
          gatherer.connect((batch) => worker.postMessage(batch, [batch.windows.buffer, batch.streams.buffer]))
          Deferred.doneUnsafe(loaded, Effect.void)
          Deferred.doneUnsafe(up, Effect.void)
        })
      })
    })

    const keepServing = Effect.gen(function* () {
      for (let failures = 0; ; failures++) {
        const [lasted, error] = yield* Effect.timed(Effect.flip(Effect.scoped(serve)))
        if (Duration.toMillis(lasted) > settledMs) failures = 0
        if (failures === 0) yield* Effect.logWarning("silero thread lost", { reason: error.reason })
        yield* Effect.sleep(Math.min(5000, 100 * 2 ** failures))
      }
    })
    yield* Effect.forkScoped(keepServing)

    return {
      provider: "silero",
      open: Effect.fnUntraced(function* (onWindow) {
        yield* Deferred.await(up).pipe(
          Effect.timeoutOrElse({
            duration: startMs,
            orElse: () => Effect.fail(failure("Timeout", "the model did not load"))
          })
        )
        const stream = yield* Effect.acquireRelease(
          Effect.sync(() => gatherer.open(onWindow)),
          (stream) => Effect.sync(() => gatherer.close(stream))
        )
        const window = new Int16Array(windowSamples)
        let filled = 0
        return {
          push: (samples) => {
            for (let at = 0; at < samples.length;) {
              const part = samples.subarray(at, at + windowSamples - filled)
              window.set(part, filled)
              filled += part.length
              at += part.length
              if (filled < windowSamples) continue
              filled = 0
              gatherer.add(stream, window)
            }
          }
        }
      })
    }
  })

const failure = (reason: "Unavailable" | "Timeout", message: string): SpeechError =>
  new SpeechError({ reason, provider: "silero", message })
