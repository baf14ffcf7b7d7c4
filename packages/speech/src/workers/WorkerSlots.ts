// Worker threads with many slots each. A slot is a piece of state inside one thread (a codec, a decoder) and the
// questions asked of it, answered in order. A thread that dies, or holds a question past its bound, takes its slots with
// it; other threads never notice. The thread's program calls `serveSlots`.
import { Effect } from "effect"
import type { Scope } from "effect"
import type { RunningWorker } from "./RunningWorker.ts"
import { makeSupervisedWorker } from "./SupervisedWorker.ts"
import type { SupervisedWorker } from "./SupervisedWorker.ts"
import { workerFault } from "./WorkerFault.ts"
import type { WorkerFault } from "./WorkerFault.ts"
import { slotsReady } from "./slotMessages.ts"
import type { SlotAnswer, SlotMessage } from "./slotMessages.ts"

/** Sizes and bounds of the slots. */
export interface SlotOptions {
  readonly program: URL
  readonly name: string
  readonly threads: number
  /** When the threads start: each takes 30 to 50 MB. */
  readonly start: "now" | "first use"
  /** Open slots of all threads; one more is refused as `Full`. */
  readonly slotLimit: number
  /** Longest a question may wait for its answer, in milliseconds. */
  readonly answerMs: number
}

/** State inside a thread. */
export interface Slot<Question, Answer> {
  /**
   * Fails with `Lost`, `Timeout` (the thread is killed) or `Threw`. `transfer`: buffers given away instead of copied.
   * Interrupting forgets the answer, not the question.
   */
  readonly ask: (question: Question, transfer?: ReadonlyArray<ArrayBuffer>) => Effect.Effect<Answer, WorkerFault>
}

/** The slots of all threads. */
export interface WorkerSlots<Question, Answer> {
  /** In the thread with the fewest slots; fails with `Full` or `Lost`. Closing the scope frees what the slot holds. */
  readonly take: Effect.Effect<Slot<Question, Answer>, WorkerFault, Scope.Scope>
}

/** Threads that are stopped when the scope closes; what waits for an answer then fails with `Lost`. */
export const makeWorkerSlots = <Question, Answer>(
  options: SlotOptions
): Effect.Effect<WorkerSlots<Question, Answer>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const threads: Array<Thread<Answer>> = []
    for (let i = 0; i < options.threads; i++) {
      const worker = yield* makeSupervisedWorker<SlotMessage, SlotAnswer<Answer>>({
        program: { kind: "thread", file: options.program, name: options.name },
        isReady: (message) => message === slotsReady,
        start: options.start
      })
      threads.push(new Thread(worker))
    }
    let numbers = 0

    const open = (): Effect.Effect<OpenSlot<Answer>, WorkerFault> => {
      if (threads.reduce((sum, thread) => sum + thread.size, 0) >= options.slotLimit) {
        return Effect.fail(workerFault("Full", "every slot is taken"))
      }
      for (const thread of threads.toSorted((a, b) => a.size - b.size)) {
        const life = thread.current()
        if (life === undefined) continue
        const number = numbers++
        life.slots.add(number)
        return Effect.succeed({ life, number })
      }
      return Effect.fail(workerFault("Lost", "no thread could be started"))
    }

    return {
      take: Effect.acquireRelease(Effect.suspend(open), ({ life, number }) =>
        Effect.sync(() => life.close(number))
      ).pipe(
        Effect.map(({ life, number }) => ({
          ask: (question: Question, transfer: ReadonlyArray<ArrayBuffer> = []) =>
            life.ask(number, question, transfer, options.answerMs)
        }))
      )
    }
  })

interface OpenSlot<Answer> {
  readonly life: ThreadLife<Answer>
  readonly number: number
}

/** One thread and its successors: slots belong to the one that was running when they were opened. */
class Thread<Answer> {
  readonly #worker: SupervisedWorker<SlotMessage, SlotAnswer<Answer>>
  #life: ThreadLife<Answer> | undefined

  constructor(worker: SupervisedWorker<SlotMessage, SlotAnswer<Answer>>) {
    this.#worker = worker
  }

  get size(): number {
    return this.#life?.slots.size ?? 0
  }

  current(): ThreadLife<Answer> | undefined {
    const { running } = this.#worker
    if (running === undefined) return undefined
    if (this.#life?.running !== running) this.#life = new ThreadLife(running)
    return this.#life
  }
}

type Settle<Answer> = (result: Effect.Effect<Answer, WorkerFault>) => void

class ThreadLife<Answer> {
  readonly slots = new Set<number>()
  readonly running: RunningWorker<SlotMessage, SlotAnswer<Answer>>
  readonly #waiting = new Map<number, Settle<Answer>>()
  #calls = 0

  constructor(running: RunningWorker<SlotMessage, SlotAnswer<Answer>>) {
    this.running = running
    running.listen({
      onMessage: (message) => this.#answered(message),
      onExit: (reason) => {
        this.slots.clear()
        for (const settle of this.#waiting.values()) settle(Effect.fail(workerFault("Lost", reason)))
        this.#waiting.clear()
      }
    })
  }

  ask(
    slot: number,
    question: unknown,
    transfer: ReadonlyArray<ArrayBuffer>,
    answerMs: number
  ): Effect.Effect<Answer, WorkerFault> {
    return Effect.callback((resume) => {
      if (!this.running.isAlive) return resume(Effect.fail(workerFault("Lost", "the thread ended")))
      const call = this.#calls++
      const timer = setTimeout(() => {
        this.#waiting.delete(call)
        resume(Effect.fail(workerFault("Timeout", "the thread did not answer")))
        this.running.kill("the thread did not answer")
      }, answerMs)
      this.#waiting.set(call, (result) => {
        clearTimeout(timer)
        resume(result)
      })
      this.running.post({ slot, call, question }, transfer)
      return Effect.sync(() => {
        clearTimeout(timer)
        this.#waiting.delete(call)
      })
    })
  }

  close(slot: number): void {
    if (this.slots.delete(slot)) this.running.post({ slot })
  }

  #answered(message: SlotAnswer<Answer>): void {
    this.running.served()
    const settle = this.#waiting.get(message.call)
    this.#waiting.delete(message.call)
    settle?.(
      "answer" in message ? Effect.succeed(message.answer) : Effect.fail(workerFault("Threw", "the handler threw"))
    )
  }
}
