// Jobs for workers that do one thing at a time: a bounded queue with the urgent ones first, a bound on each wait for the
// worker's next message, and cancelling. A job that nobody wants any more leaves the queue; one that is being worked on
// keeps its worker busy until its last message, or until its time is up.
import { Cause, Effect, Queue } from "effect"
import type { Scope } from "effect"
import type { RunningWorker } from "./RunningWorker.ts"
import { makeSupervisedWorker } from "./SupervisedWorker.ts"
import type { SupervisedWorker, SupervisionOptions } from "./SupervisedWorker.ts"
import { workerFault } from "./WorkerFault.ts"
import type { WorkerFault } from "./WorkerFault.ts"

/** How the program's messages belong to jobs. */
export interface JobProtocol<Job, To, From> {
  readonly start: (id: number, job: Job) => To
  /** Whether a message is about the job; default: every message of a busy worker is. */
  readonly isAbout?: (message: From, id: number) => boolean
  /** Whether a message is the job's last one. Default: each job has one answer. */
  readonly isLast?: (message: From) => boolean
  /** Told to a worker whose job nobody wants any more. Default: nothing. */
  readonly cancel?: (id: number) => To
}

/** Sizes and bounds of a pool. */
export interface PoolOptions<Job, To, From> extends SupervisionOptions {
  readonly workers: number
  /** Jobs that wait; one more is refused as `Full`. */
  readonly queueLimit: number
  /** Longest wait for a message of a running job, in milliseconds; its worker is killed then. */
  readonly answerMs: number
  /** Longest a job waits for any worker to come up, in milliseconds. */
  readonly readyMs: number
  readonly protocol: JobProtocol<Job, To, From>
  /** What becomes of waiting jobs while no worker can be started: `fail` lets another provider be asked. */
  readonly whenDown: "fail" | "wait"
}

/** The messages of one job; ends after the last, fails with the reason why there is none. */
export type JobAnswers<From> = Queue.Dequeue<From, WorkerFault | Cause.Done>

/** Workers with one queue. */
export interface WorkerPool<Job, From> {
  /** Every message of the job, the last included. Closing the scope cancels the job. Fails with `Full`. */
  readonly submit: (job: Job, urgent: boolean) => Effect.Effect<JobAnswers<From>, WorkerFault, Scope.Scope>
  /** The first message of the job. Interruption cancels it. */
  readonly run: (job: Job, urgent: boolean) => Effect.Effect<From, WorkerFault>
  /** Jobs waiting, running ones not counted. */
  readonly waiting: () => number
  /** For people: why no worker is there just now. */
  readonly fault: () => string | undefined
}

interface Entry<Job, From> {
  readonly id: number
  readonly job: Job
  readonly urgent: boolean
  readonly answers: Queue.Queue<From, WorkerFault | Cause.Done>
  timer: NodeJS.Timeout | undefined
  cancel: () => void
}

/** Starts the workers. When the scope closes they are stopped, and what waits or runs fails with `Lost`. */
export const makeWorkerPool = <Job, To, From>(
  options: PoolOptions<Job, To, From>
): Effect.Effect<WorkerPool<Job, From>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const workers: Array<SupervisedWorker<To, From>> = []
    // Stopping the workers fails what runs; this comes after it and finds what still waits.
    const jobs = yield* Effect.acquireRelease(
      Effect.sync(() => new Jobs(options, workers)),
      (jobs) => Effect.sync(() => jobs.stop())
    )
    for (let i = 0; i < options.workers; i++) {
      const worker = yield* makeSupervisedWorker<To, From>(options)
      workers.push(worker)
      worker.watch(() => jobs.dispatch())
    }
    const submit = (job: Job, urgent: boolean) =>
      Effect.acquireRelease(
        Effect.suspend(() => jobs.add(job, urgent)),
        (entry) => Effect.suspend(() => jobs.leave(entry))
      ).pipe(Effect.map(({ answers }) => answers))
    return {
      submit,
      run: (job, urgent) =>
        Effect.scoped(Effect.flatMap(submit(job, urgent), Queue.take)).pipe(
          Effect.mapError((error) => (error._tag === "WorkerFault" ? error : workerFault("Lost", "no answer came")))
        ),
      waiting: () => jobs.waiting,
      fault: () => (workers.every(({ fault }) => fault !== undefined) ? workers[0]?.fault : undefined)
    }
  })

class Jobs<Job, To, From> {
  readonly #options: PoolOptions<Job, To, From>
  readonly #workers: ReadonlyArray<SupervisedWorker<To, From>>
  readonly #busy = new Set<RunningWorker<To, From>>()
  #queue: Array<Entry<Job, From>> = []
  #ids = 0

  constructor(options: PoolOptions<Job, To, From>, workers: ReadonlyArray<SupervisedWorker<To, From>>) {
    this.#options = options
    this.#workers = workers
  }

  get waiting(): number {
    return this.#queue.length
  }

  add(job: Job, urgent: boolean): Effect.Effect<Entry<Job, From>, WorkerFault> {
    // A worker that is coming up takes one job off the queue at once.
    const starting = this.#workers.filter(({ state }) => state === "starting" || state === "off").length
    if (this.#free() === undefined && this.#queue.length - starting >= this.#options.queueLimit) {
      return Effect.fail(workerFault("Full", "too many jobs are waiting"))
    }
    return Effect.map(Queue.unbounded<From, WorkerFault | Cause.Done>(), (answers) => {
      const entry: Entry<Job, From> = { id: this.#ids++, job, urgent, answers, timer: undefined, cancel: () => {} }
      const before = urgent ? this.#queue.findIndex((other) => !other.urgent) : -1
      this.#queue.splice(before === -1 ? this.#queue.length : before, 0, entry)
      this.#awaitWorker(entry)
      this.dispatch()
      return entry
    })
  }

  leave(entry: Entry<Job, From>): Effect.Effect<unknown> {
    const at = this.#queue.indexOf(entry)
    if (at === -1) entry.cancel()
    else {
      this.#queue.splice(at, 1)
      clearTimeout(entry.timer)
    }
    return Queue.shutdown(entry.answers)
  }

  /** Gives waiting jobs to free workers. */
  dispatch(): void {
    while (this.#queue.length > 0) {
      const running = this.#free()
      if (running === undefined) break
      const entry = this.#queue.shift()
      if (entry !== undefined) this.#serve(running, entry)
    }
    if (this.#queue.length === 0) return
    for (const worker of this.#workers) if (worker.state === "off") worker.start()
    const down = this.#workers.every(({ state }) => state === "paused" || state === "stopped")
    if (down && this.#options.whenDown === "fail") {
      this.#failWaiting(workerFault("Lost", this.#workers[0]?.fault ?? "no worker could be started"))
    }
  }

  stop(): void {
    this.#failWaiting(workerFault("Lost", "stopped"))
  }

  #free(): RunningWorker<To, From> | undefined {
    for (const worker of this.#workers) {
      const running = worker.state === "ready" ? worker.running : undefined
      if (running !== undefined && !this.#busy.has(running)) return running
    }
    return undefined
  }

  #awaitWorker(entry: Entry<Job, From>): void {
    entry.timer = setTimeout(() => {
      if (this.#workers.some(({ state }) => state === "ready")) return this.#awaitWorker(entry)
      this.#queue = this.#queue.filter((other) => other !== entry)
      fail(entry, workerFault("Timeout", "no worker is ready"))
    }, this.#options.readyMs)
  }

  #serve(running: RunningWorker<To, From>, entry: Entry<Job, From>): void {
    const { cancel, isAbout, isLast, start } = this.#options.protocol
    const { answers, id } = entry
    this.#busy.add(running)
    const awaitNext = () => {
      clearTimeout(entry.timer)
      entry.timer = setTimeout(() => {
        fail(entry, workerFault("Timeout", "the worker did not answer"))
        running.kill("the worker did not answer")
      }, this.#options.answerMs)
    }
    const over = () => {
      stopListening()
      clearTimeout(entry.timer)
      entry.cancel = () => {}
      this.#busy.delete(running)
    }
    const stopListening = running.listen({
      onMessage: (message) => {
        if (isAbout !== undefined && !isAbout(message, id)) return
        running.served()
        Queue.offerUnsafe(answers, message)
        if (isLast !== undefined && !isLast(message)) return awaitNext()
        Queue.endUnsafe(answers)
        over()
        this.dispatch()
      },
      onExit: (reason) => {
        over()
        fail(entry, workerFault("Lost", reason))
      }
    })
    if (cancel !== undefined) entry.cancel = () => running.post(cancel(id))
    running.post(start(id, entry.job))
    awaitNext()
  }

  #failWaiting(fault: WorkerFault): void {
    for (const entry of this.#queue.splice(0)) {
      clearTimeout(entry.timer)
      fail(entry, fault)
    }
  }
}

const fail = <From>({ answers }: Entry<unknown, From>, fault: WorkerFault): void => {
  Queue.failCauseUnsafe(answers, Cause.fail(fault))
}
