// Worker threads with many seats each. A seat is a piece of state inside one thread (a codec, a decoder) and the
// questions asked of it, answered in order. A thread that dies, or holds a question past its bound, takes its seats
// with it and is replaced when the next seat is taken; other threads never notice.
import { Worker } from "node:worker_threads"
import { Clock, Data, Effect } from "effect"
import type { Scope } from "effect"
import type { SeatAnswer, SeatMessage } from "./threadSeats.ts"

export interface ThreadPoolOptions {
  /** The thread's program: calls `serveSeats`. */
  readonly program: URL
  readonly name: string
  readonly threads: number
  /** Whether the threads start now or with the first seat: each takes 30 to 50 MB. */
  readonly warm: boolean
  /** Open seats of all threads; one more is refused as `Full`. */
  readonly seatLimit: number
  /** Longest a question may wait for its answer. Default 20 s. */
  readonly replyMs?: number
}

export class SeatFault extends Data.TaggedError("SeatFault")<{
  /** `Lost`: the thread died or does not start. `Stuck`: no answer in time. `Threw`: the handler threw. */
  readonly reason: "Full" | "Lost" | "Stuck" | "Threw"
}> {}

export interface Seat<Question, Answer> {
  /** `transfer`: buffers given away instead of copied. Interrupting forgets the answer, not the question. */
  readonly ask: (question: Question, transfer?: ReadonlyArray<ArrayBuffer>) => Effect.Effect<Answer, SeatFault>
}

export interface ThreadPool<Question, Answer> {
  /** In the thread with the fewest seats. Closing the scope frees what the seat holds in its thread. */
  readonly take: Effect.Effect<Seat<Question, Answer>, SeatFault, Scope.Scope>
  readonly seats: () => number
}

export const makeThreadPool = <Question, Answer>(
  options: ThreadPoolOptions
): Effect.Effect<ThreadPool<Question, Answer>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const slots = Array.from({ length: options.threads }, () => new Slot<Answer>(options))
    yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(slots.map((slot) => slot.end()))))
    if (options.warm) for (const slot of slots) slot.thread(0)
    const seats = () => slots.reduce((sum, slot) => sum + slot.seats, 0)
    let numbers = 0

    const sit = (now: number): Effect.Effect<{ readonly thread: Thread<Answer>; readonly seat: number }, SeatFault> => {
      if (seats() >= options.seatLimit) return Effect.fail(new SeatFault({ reason: "Full" }))
      for (const slot of slots.toSorted((a, b) => a.seats - b.seats)) {
        const thread = slot.thread(now)
        if (thread === undefined) continue
        const seat = numbers++
        thread.seats.add(seat)
        return Effect.succeed({ thread, seat })
      }
      return Effect.fail(new SeatFault({ reason: "Lost" }))
    }

    return {
      seats,
      take: Effect.acquireRelease(Effect.flatMap(Clock.currentTimeMillis, sit), ({ seat, thread }) =>
        Effect.sync(() => thread.leave(seat))
      ).pipe(
        Effect.map(({ seat, thread }) => ({
          ask: (question: Question, transfer: ReadonlyArray<ArrayBuffer> = []) =>
            Effect.callback<Answer, SeatFault>((resume) => {
              const call = thread.ask(seat, question, transfer, resume)
              return Effect.sync(() => thread.forget(call))
            }).pipe(
              Effect.timeoutOrElse({
                duration: options.replyMs ?? 20_000,
                orElse: () =>
                  Effect.promise(() => thread.end()).pipe(
                    Effect.andThen(Effect.fail(new SeatFault({ reason: "Stuck" })))
                  )
              })
            )
        }))
      )
    }
  })

/** Where a thread lives, and the next one after it died. A program that only dies is started ever more rarely. */
class Slot<Answer> {
  readonly #options: ThreadPoolOptions
  #thread: Thread<Answer> | undefined
  #deaths = 0
  #startedAt = Number.NEGATIVE_INFINITY

  constructor(options: ThreadPoolOptions) {
    this.#options = options
  }

  get seats(): number {
    return this.#thread?.alive === true ? this.#thread.seats.size : 0
  }

  thread(now: number): Thread<Answer> | undefined {
    if (this.#thread?.alive === true) return this.#thread
    if (this.#thread?.hasAnswered === true) this.#deaths = 0
    if (now - this.#startedAt < (this.#deaths === 0 ? 0 : Math.min(5000, 100 * 2 ** this.#deaths))) return undefined
    this.#startedAt = now
    this.#deaths++
    this.#thread = new Thread(this.#options)
    return this.#thread
  }

  end(): Promise<unknown> {
    return this.#thread?.end() ?? Promise.resolve()
  }
}

type Settle<Answer> = (effect: Effect.Effect<Answer, SeatFault>) => void

class Thread<Answer> {
  alive = true
  hasAnswered = false
  readonly seats = new Set<number>()
  readonly #worker: Worker
  readonly #waiting = new Map<number, Settle<Answer>>()
  #calls = 0

  constructor(options: ThreadPoolOptions) {
    this.#worker = new Worker(options.program, { execArgv: [], name: options.name })
    this.#worker.on("message", (message: SeatAnswer<Answer>) => this.#answered(message))
    this.#worker.on("error", () => this.#died())
    this.#worker.on("exit", () => this.#died())
  }

  ask(seat: number, question: unknown, transfer: ReadonlyArray<ArrayBuffer>, settle: Settle<Answer>): number {
    const call = this.#calls++
    if (!this.alive) settle(Effect.fail(new SeatFault({ reason: "Lost" })))
    else {
      this.#waiting.set(call, settle)
      this.#post({ seat, call, question }, transfer)
    }
    return call
  }

  forget(call: number): void {
    this.#waiting.delete(call)
  }

  leave(seat: number): void {
    if (this.seats.delete(seat) && this.alive) this.#post({ seat })
  }

  end(): Promise<unknown> {
    this.#died()
    return this.#worker.terminate()
  }

  #post(message: SeatMessage, transfer: ReadonlyArray<ArrayBuffer> = []): void {
    this.#worker.postMessage(message, transfer)
  }

  #answered(message: SeatAnswer<Answer>): void {
    this.hasAnswered = true
    const settle = this.#waiting.get(message.call)
    this.#waiting.delete(message.call)
    settle?.("answer" in message ? Effect.succeed(message.answer) : Effect.fail(new SeatFault({ reason: "Threw" })))
  }

  #died(): void {
    this.alive = false
    for (const settle of this.#waiting.values()) settle(Effect.fail(new SeatFault({ reason: "Lost" })))
    this.#waiting.clear()
  }
}
