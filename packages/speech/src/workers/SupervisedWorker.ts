// One place for a worker, kept filled: started, restarted when it dies, later and later while it dies without having
// worked. A plain synchronous class with timers, because the media thread uses it frame by frame; `makeSupervisedWorker`
// ties it to a scope. While a restart is put off, asking for the worker fails at once, so that another provider is asked.
import { Effect } from "effect"
import type { Scope } from "effect"
import { RunningWorker } from "./RunningWorker.ts"
import type { StartOptions } from "./RunningWorker.ts"
import { workerFault } from "./WorkerFault.ts"
import type { WorkerFault } from "./WorkerFault.ts"

/** How a worker is kept. */
export interface SupervisionOptions extends StartOptions {
  /** When the first worker starts. A thread takes 30 to 50 MB. Default "now". */
  readonly start?: "now" | "first use" | undefined
  /** Pause after the first death that counts, in milliseconds; doubled with each further one. Default 100 ms. */
  readonly firstPauseMs?: number | undefined
  /** The pause grows no longer than this, in milliseconds. Default 5 s. */
  readonly longestPauseMs?: number | undefined
}

/** `paused`: it died and the next start is put off. `off`: nobody wants it yet. */
export type WorkerState = "off" | "starting" | "ready" | "paused" | "stopped"

/** A worker that was ready this long is replaced at once when it dies. */
const settledMs = 30_000

/** A worker and its successors. `To` and `From` are the messages of its program. */
export class SupervisedWorker<To, From> {
  readonly #options: SupervisionOptions
  readonly #watchers = new Set<() => void>()
  readonly #ending = new Set<Promise<void>>()
  #running: RunningWorker<To, From> | undefined
  #pause: NodeJS.Timeout | undefined
  #isWanted = false
  #isStopped = false
  #deaths = 0
  #fault: string | undefined

  constructor(options: SupervisionOptions) {
    this.#options = options
    if (options.start !== "first use") this.start()
  }

  get state(): WorkerState {
    if (this.#isStopped) return "stopped"
    if (this.#running !== undefined) return this.#running.wasReady ? "ready" : "starting"
    return this.#pause === undefined ? "off" : "paused"
  }

  /** Deaths in a row without work in between. */
  get deaths(): number {
    return this.#deaths
  }

  /** For people: why it died without having worked; gone when the next one is ready. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** The worker that takes messages now, starting or ready; started by asking. None while paused or stopped. */
  get running(): RunningWorker<To, From> | undefined {
    if (this.#running === undefined) this.start()
    return this.#running
  }

  /** `onChange` is called after every change of `state`; returns how to stop it. */
  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange)
    return () => this.#watchers.delete(onChange)
  }

  /** From now on it is kept alive. Does nothing while it runs, is paused or was stopped. */
  start(): void {
    this.#isWanted = true
    if (this.#isStopped || this.#running !== undefined || this.#pause !== undefined) return
    try {
      const running: RunningWorker<To, From> = new RunningWorker(this.#options, {
        onReady: () => {
          this.#fault = undefined
          this.#changed()
        },
        onExit: (reason) => {
          if (this.#running === running) this.#died(running, reason)
        },
        onKill: (end) => {
          this.#ending.add(end)
          const forget = () => this.#ending.delete(end)
          end.then(forget, forget)
        }
      })
      this.#running = running
    } catch {
      this.#died(undefined, "the worker could not be started")
    }
    this.#changed()
  }

  /** Ends the worker until it is started again. */
  rest(): void {
    this.#isWanted = false
    this.#end("the worker is not needed")
  }

  /** Ends the worker for good. Resolved when every one that was ever started has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#end("the worker was stopped")
    this.#changed()
    await Promise.allSettled(this.#ending)
  }

  /** Waits for a start under way, but not through a pause: fails with `Lost` then. */
  get ready(): Effect.Effect<RunningWorker<To, From>, WorkerFault> {
    return this.#awaited((state) => state === "paused" || state === "stopped")
  }

  /** Waits through starts and pauses for the next worker that is ready. Fails with `Lost` when stopped. */
  get eventuallyReady(): Effect.Effect<RunningWorker<To, From>, WorkerFault> {
    return this.#awaited((state) => state === "stopped")
  }

  #awaited(isOver: (state: WorkerState) => boolean): Effect.Effect<RunningWorker<To, From>, WorkerFault> {
    return Effect.callback((resume) => {
      const look = () => {
        const { state } = this
        if (state === "ready" && this.#running !== undefined) resume(Effect.succeed(this.#running))
        else if (isOver(state)) resume(Effect.fail(workerFault("Lost", this.#fault ?? "the worker was stopped")))
        else return
        unwatch()
      }
      const unwatch = this.watch(look)
      this.start()
      look()
      return Effect.sync(unwatch)
    })
  }

  #died(running: RunningWorker<To, From> | undefined, reason: string): void {
    this.#running = undefined
    if (!this.#isWanted || this.#isStopped) return this.#changed()
    if (running?.hasProvedItself(settledMs) === true) this.#deaths = 0
    else {
      this.#deaths++
      this.#fault = reason
    }
    // The first death of one that had come up may be the work's fault.
    const pauseMs = this.#deaths === 0 || (this.#deaths === 1 && running?.wasReady === true) ? 0 : this.#pauseMs()
    if (pauseMs === 0) return this.start()
    this.#pause = setTimeout(() => {
      this.#pause = undefined
      if (this.#isWanted) this.start()
    }, pauseMs)
    this.#changed()
  }

  #pauseMs(): number {
    const firstMs = this.#options.firstPauseMs ?? 100
    return Math.min(this.#options.longestPauseMs ?? 5000, firstMs * 2 ** (this.#deaths - 1))
  }

  #end(reason: string): void {
    clearTimeout(this.#pause)
    this.#pause = undefined
    this.#running?.kill(reason)
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher()
  }
}

/** A worker that is stopped, and its end waited for, when the scope closes. The first loss in a row is logged. */
export const makeSupervisedWorker = <To, From>(
  options: SupervisionOptions
): Effect.Effect<SupervisedWorker<To, From>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Effect.runForkWith(yield* Effect.context())
    const worker = yield* Effect.acquireRelease(
      Effect.sync(() => new SupervisedWorker<To, From>(options)),
      (worker) => Effect.promise(() => worker.stop())
    )
    let before = 0
    worker.watch(() => {
      const { deaths } = worker
      const isFirst = deaths > 0 && before === 0
      before = deaths
      if (isFirst) fork(Effect.logWarning("worker lost", { worker: options.program.name, reason: worker.fault ?? "" }))
    })
    return worker
  })
