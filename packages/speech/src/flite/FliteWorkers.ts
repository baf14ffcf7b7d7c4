// Flite's jobs in worker threads: urgent ones first, each bounded, a full queue refused.
import { Effect } from "effect"
import type { Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import { makeWorkerPool } from "../workers/WorkerPool.ts"
import { speechErrorOf } from "../workers/speechErrorOf.ts"
import { workerReady } from "./FliteJob.ts"
import type { FliteAnswer, FliteJob } from "./FliteJob.ts"

/** Sizes and bounds of Flite's threads. */
export interface FliteWorkersOptions {
  /** Threads. Default 2. */
  readonly threads?: number
  /** Waiting jobs; one more is refused as `Overloaded`. Default 64. */
  readonly queueLimit?: number
  /** Longest a job may run, and a thread may take to start. Default 10 s. */
  readonly jobMs?: number
  /** Longest from asking to the answer, waiting included. Default 20 s. */
  readonly waitMs?: number
  /** The thread's program; tests put in one that misbehaves. */
  readonly program?: URL
}

/** Flite's threads, seen by the synthesizer. */
export interface FliteWorkers {
  /** Fails with `Overloaded`, `Unavailable` or `Timeout`. Interruption withdraws the job. */
  readonly run: (job: FliteJob, urgent: boolean) => Effect.Effect<FliteAnswer, SpeechError>
  /** Jobs waiting, running ones not counted. */
  readonly waiting: () => number
}

/** Threads start in the background; jobs wait for the first one that is ready. */
export const makeFliteWorkers: (options?: FliteWorkersOptions) => Effect.Effect<FliteWorkers, never, Scope.Scope> =
  Effect.fnUntraced(function* (options = {}) {
    const jobMs = options.jobMs ?? 10_000
    const waitMs = options.waitMs ?? 20_000
    const pool = yield* makeWorkerPool<FliteJob, FliteJob, FliteAnswer>({
      program: { kind: "thread", file: options.program ?? new URL("./fliteWorker.ts", import.meta.url), name: "flite" },
      isReady: (message) => message === workerReady,
      startMs: jobMs,
      workers: options.threads ?? 2,
      queueLimit: options.queueLimit ?? 64,
      answerMs: jobMs,
      readyMs: waitMs,
      protocol: { start: (_, job) => job },
      whenDown: "wait"
    })
    return {
      waiting: pool.waiting,
      run: (job, urgent) =>
        Effect.mapError(pool.run(job, urgent), speechErrorOf("flite")).pipe(
          Effect.timeoutOrElse({
            duration: waitMs,
            orElse: () =>
              Effect.fail(new SpeechError({ reason: "Timeout", provider: "flite", message: "no worker came free" }))
          })
        )
    }
  })
