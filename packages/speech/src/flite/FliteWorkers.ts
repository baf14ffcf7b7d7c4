// The worker threads of Flite and the queue before them. Urgent jobs go first; a job whose caller is gone
// leaves the queue, and the answer of one already running is dropped. A thread that dies, or holds a job
// past its bound, is replaced after a growing pause; its job fails, the queue stays.
import { Worker } from "node:worker_threads"
import { Effect, Queue } from "effect"
import type { Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import { workerReady } from "./FliteJob.ts"
import type { FliteAnswer, FliteJob } from "./FliteJob.ts"

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

export interface FliteWorkers {
  /** Fails with `Overloaded`, `Unavailable` or `Timeout`. Interruption withdraws the job. */
  readonly run: (job: FliteJob, urgent: boolean) => Effect.Effect<FliteAnswer, SpeechError>
  /** Jobs waiting, running ones not counted. */
  readonly waiting: () => number
}

interface Entry {
  readonly job: FliteJob
  readonly done: (effect: Effect.Effect<FliteAnswer, SpeechError>) => void
}

/** Threads start in the background; jobs wait for the first one that is ready. */
export const makeFliteWorkers: (options?: FliteWorkersOptions) => Effect.Effect<FliteWorkers, never, Scope.Scope> =
  Effect.fnUntraced(function* (options = {}) {
    const queueLimit = options.queueLimit ?? 64
    const jobMs = options.jobMs ?? 10_000
    const urgentLane: Array<Entry> = []
    const lane: Array<Entry> = []
    // One ticket per entry ever queued: a ticket whose entry was withdrawn is worth nothing.
    const tickets = yield* Queue.unbounded<void>()
    const waitMs = options.waitMs ?? 20_000
    const program = options.program ?? new URL("./fliteWorker.ts", import.meta.url)

    const serve = Effect.fnUntraced(function* (onServed: () => void) {
      const worker = yield* startWorker(program, jobMs)
      while (true) {
        yield* Queue.take(tickets)
        const entry = urgentLane.shift() ?? lane.shift()
        if (entry === undefined) continue
        const answer = yield* ask(worker, entry.job, jobMs).pipe(
          Effect.tapError((error) => Effect.sync(() => entry.done(Effect.fail(error)))),
          Effect.onInterrupt(() => Effect.sync(() => entry.done(Effect.fail(failure("Unavailable", "stopped")))))
        )
        entry.done(Effect.succeed(answer))
        onServed()
      }
    })

    const keepServing = Effect.gen(function* () {
      let failures = 0
      while (true) {
        const onServed = () => {
          failures = 0
        }
        yield* Effect.scoped(serve(onServed)).pipe(
          Effect.catch((error) =>
            failures === 0 ? Effect.logWarning("flite worker lost", { reason: error.reason }) : Effect.void
          )
        )
        yield* Effect.sleep(Math.min(5000, 100 * 2 ** failures++))
      }
    })

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const entry of [...urgentLane.splice(0), ...lane.splice(0)]) {
          entry.done(Effect.fail(failure("Unavailable", "stopped")))
        }
      })
    )
    for (let i = 0; i < (options.threads ?? 2); i++) yield* Effect.forkScoped(keepServing)

    return {
      waiting: () => urgentLane.length + lane.length,
      run: (job, urgent) =>
        Effect.callback<FliteAnswer, SpeechError>((resume) => {
          if (urgentLane.length + lane.length >= queueLimit) {
            return resume(Effect.fail(failure("Overloaded", "too many phrases waiting")))
          }
          const entry = { job, done: resume }
          const queue = urgent ? urgentLane : lane
          queue.push(entry)
          Queue.offerUnsafe(tickets, undefined)
          return Effect.sync(() => {
            const at = queue.indexOf(entry)
            if (at !== -1) queue.splice(at, 1)
          })
        }).pipe(bounded(waitMs, "no worker came free"))
    }
  })

const startWorker = (program: URL, withinMs: number): Effect.Effect<Worker, SpeechError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const worker = new Worker(program, { execArgv: [], name: "flite" })
      // Failures are seen by whoever waits; this keeps one between two jobs from being thrown.
      worker.on("error", () => {})
      return worker
    }),
    (worker) => Effect.promise(() => worker.terminate())
  ).pipe(
    Effect.tap((worker) =>
      answerOf(worker, (message) => message === workerReady).pipe(bounded(withinMs, "the worker did not start"))
    )
  )

const ask = (worker: Worker, job: FliteJob, withinMs: number): Effect.Effect<FliteAnswer, SpeechError> =>
  answerOf<FliteAnswer>(worker, (message) => message !== workerReady, job).pipe(
    bounded(withinMs, "the worker gave no answer")
  )

/** The next message that passes, or the worker's death. */
const answerOf = <A>(worker: Worker, passes: (message: unknown) => boolean, job?: FliteJob) =>
  Effect.callback<A, SpeechError>((resume) => {
    const gone = () => settle(Effect.fail(failure("Unavailable", "the worker died")))
    const said = (message: A) => passes(message) && settle(Effect.succeed(message))
    const stop = () => {
      worker.off("message", said)
      worker.off("error", gone)
      worker.off("exit", gone)
    }
    const settle = (result: Effect.Effect<A, SpeechError>) => {
      stop()
      resume(result)
    }
    worker.on("message", said)
    worker.on("error", gone)
    worker.on("exit", gone)
    if (worker.threadId === -1) return gone()
    if (job !== undefined) worker.postMessage(job)
    return Effect.sync(stop)
  })

const bounded =
  (withinMs: number, message: string) =>
  <A>(effect: Effect.Effect<A, SpeechError>): Effect.Effect<A, SpeechError> =>
    Effect.timeoutOrElse(effect, { duration: withinMs, orElse: () => Effect.fail(failure("Timeout", message)) })

const failure = (reason: "Overloaded" | "Unavailable" | "Timeout", message: string): SpeechError =>
  new SpeechError({ reason, provider: "flite", message })
