// Silero VAD behind its port: one thread for all streams. Windows are gathered a few milliseconds when many
// streams are open, and sent at once when few are. A thread that dies is replaced; the streams go on with fresh
// state and miss the windows in between.
import { Effect } from "effect"
import type { Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import { windowSamples } from "../ports/VoiceActivity.ts"
import type { VoiceActivity } from "../ports/VoiceActivity.ts"
import { makeSupervisedWorker } from "../workers/SupervisedWorker.ts"
import { speechErrorOf } from "../workers/speechErrorOf.ts"
import { threadReady } from "./SileroBatch.ts"
import type { SileroAnswer, SileroBatch } from "./SileroBatch.ts"
import { WindowGatherer } from "./WindowGatherer.ts"

/** Bounds of the thread. */
export interface SileroOptions {
  /** Longest time for the thread to load the model. Default 15 s. */
  readonly startMs?: number
  /** The thread's program; tests put in one that misbehaves. */
  readonly program?: URL
}

/** A thread that is killed while the runtime loads takes the whole process down: it is given this long first. */
const loadGraceMs = 5_000
/** Longest time to load before the thread is replaced: long, because of the above. */
const loadMs = 60_000

/** The thread starts in the background; `open` waits for it and fails with `Timeout` when it does not come. */
export const makeSileroVoiceActivity: (options?: SileroOptions) => Effect.Effect<VoiceActivity, never, Scope.Scope> =
  Effect.fnUntraced(function* (options = {}) {
    const startMs = options.startMs ?? 15_000
    const gatherer = new WindowGatherer()
    // The runtime reports its use to its maker unless the process says this; a thread's own copy is not read.
    process.env["ORT_DISABLE_TELEMETRY"] = "1"
    const worker = yield* makeSupervisedWorker<SileroBatch, SileroAnswer>({
      program: {
        kind: "thread",
        file: options.program ?? new URL("./sileroThread.ts", import.meta.url),
        name: "silero"
      },
      isReady: (message) => message === threadReady,
      startMs: loadMs,
      loadGraceMs
    })
    const connect = () => {
      const running = worker.state === "ready" ? worker.running : undefined
      if (running === undefined || gatherer.isConnected) return
      gatherer.connect((batch) => running.post(batch, [batch.windows.buffer, batch.streams.buffer]))
      running.listen({
        onMessage: ({ probabilities }) => gatherer.answered(probabilities),
        onExit: () => gatherer.disconnect()
      })
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => worker.watch(connect)),
      (stop) => Effect.sync(stop)
    )

    return {
      provider: "silero",
      open: Effect.fnUntraced(function* (onWindow) {
        yield* Effect.mapError(worker.eventuallyReady, speechErrorOf("silero")).pipe(
          Effect.timeoutOrElse({ duration: startMs, orElse: () => Effect.fail(tooLate) })
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

const tooLate = new SpeechError({ reason: "Timeout", provider: "silero", message: "the model did not load" })
