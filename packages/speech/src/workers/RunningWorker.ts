// One life of a worker, from its start to its end. Messages reach any number of listeners; the end is told once to each,
// also to one that comes too late. Killing is announced at once: nobody waits for a stuck worker to go.
import { startWorker } from "./WorkerPort.ts"
import type { WorkerPort, WorkerProgram } from "./WorkerPort.ts"

/** Who follows a worker. Both are called synchronously; neither may throw. */
export interface WorkerListener<From> {
  /** Every message but the one that says the program is ready. */
  readonly onMessage: (message: From) => void
  /** Once. `reason` is for people. */
  readonly onExit: (reason: string) => void
}

/** How a program is started and stopped. */
export interface StartOptions {
  readonly program: WorkerProgram
  /** Recognises the message that says the program is ready. Without it a program is ready as soon as it runs. */
  readonly isReady?: ((message: unknown) => boolean) | undefined
  /** Longest time from the start to readiness, in milliseconds; a later one is killed. Default 15 s. */
  readonly startMs?: number | undefined
  /** A program that must not be killed while it loads is given this long, in milliseconds, to become ready first. */
  readonly loadGraceMs?: number | undefined
}

/** What the supervisor is told, before any listener. */
export interface LifeEvents {
  readonly onReady: () => void
  readonly onExit: (reason: string) => void
  /** It was killed; `end` is resolved when it is gone. */
  readonly onKill: (end: Promise<void>) => void
}

/** A running thread or process. After its end `post` does nothing. */
export class RunningWorker<To, From> {
  readonly #options: StartOptions
  readonly #events: LifeEvents
  /** Replaced, never changed: one that is added while a message is delivered gets the next message first. */
  #listeners: ReadonlyArray<WorkerListener<From>> = []
  readonly #startTimer: NodeJS.Timeout
  #port: WorkerPort | undefined
  #exit: string | undefined
  #readyAt: number | undefined
  #served = false
  #loaded: () => void = () => {}

  /** Throws what `startWorker` throws. */
  constructor(options: StartOptions, events: LifeEvents) {
    this.#options = options
    this.#events = events
    this.#port = startWorker(options.program, {
      onOnline: () => {
        if (options.isReady === undefined) this.#ready()
      },
      onMessage: (message) => this.#received(message),
      onExit: () => {
        this.#loaded()
        this.#leave(this.wasReady ? "the worker ended unasked" : "the worker ended while it loaded the model")
      }
    })
    this.#startTimer = setTimeout(() => this.kill("the worker was not ready in time"), options.startMs ?? 15_000)
  }

  /** Of the child process; 0 for a thread. */
  get pid(): number {
    return this.#port?.pid ?? 0
  }

  /** Neither ended nor killed. */
  get isAlive(): boolean {
    return this.#exit === undefined
  }

  get wasReady(): boolean {
    return this.#readyAt !== undefined
  }

  /** Whether this life proved the program sound: it served, or was ready for `settledMs`. */
  hasProvedItself(settledMs: number): boolean {
    return this.#served || (this.#readyAt !== undefined && performance.now() - this.#readyAt > settledMs)
  }

  /** It did some work: its end will not put off the next start. */
  served(): void {
    this.#served = true
  }

  /** May be called before it is ready: the message waits inside. `transfer`: buffers given away instead of copied. */
  post(message: To, transfer?: ReadonlyArray<ArrayBuffer>): void {
    if (this.#exit === undefined) this.#port?.post(message, transfer)
  }

  /** Returns how to stop listening. `onExit` is called at once when it has ended. */
  listen(listener: WorkerListener<From>): () => void {
    if (this.#exit !== undefined) listener.onExit(this.#exit)
    else this.#listeners = [...this.#listeners, listener]
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener)
    }
  }

  /** For one that stopped answering, or is no longer wanted: to everyone it has ended from now on. */
  kill(reason: string): void {
    if (this.#exit !== undefined) return
    this.#events.onKill(this.#end())
    this.#leave(reason)
  }

  async #end(): Promise<void> {
    const graceMs = this.#options.loadGraceMs
    if (graceMs !== undefined && this.#readyAt === undefined) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs)
        this.#loaded = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    await this.#port?.kill()
  }

  #received(message: unknown): void {
    if (this.#options.isReady !== undefined && this.#readyAt === undefined && this.#options.isReady(message)) {
      return this.#ready()
    }
    if (this.#exit !== undefined) return
    for (const listener of this.#listeners) listener.onMessage(message as From)
  }

  #ready(): void {
    this.#readyAt ??= performance.now()
    clearTimeout(this.#startTimer)
    this.#loaded()
    if (this.#exit === undefined) this.#events.onReady()
  }

  #leave(reason: string): void {
    if (this.#exit !== undefined) return
    this.#exit = reason
    clearTimeout(this.#startTimer)
    // The supervisor first: who lost this worker and asks again is to find the next one.
    this.#events.onExit(reason)
    const listeners = this.#listeners
    this.#listeners = []
    for (const listener of listeners) listener.onExit(reason)
  }
}
