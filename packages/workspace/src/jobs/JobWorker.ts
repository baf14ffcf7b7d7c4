// The loop that works a queue: it looks when somebody opened the queue's latch and every `lookMs` besides, runs at most
// `atOnce` jobs at the same time, and extends their leases while they run. It ends with its scope, and its jobs with
// it; their leases run out. A job that dies is logged without its content, and is claimed again when its lease ends.
import { Effect, FiberSet, type Scope } from "effect"
import type { JobKey, JobQueue } from "./JobQueue.ts"

/** What is worked, and how. */
export interface JobWorker<Job> {
  readonly queue: Pick<JobQueue<Job>, "claim" | "extend" | "leaseSeconds" | "wakeUp">
  /** What a log line says when a job or a claim died: `A webhook attempt failed`. */
  readonly failed: string
  readonly keyOf: (job: Job) => JobKey
  readonly run: (job: Job) => Effect.Effect<void>
  readonly atOnce: number
  readonly lookMs: number
  /** After a claim or a job died nothing is claimed for so long. */
  readonly pauseMs: number
}

/** Begins to work; returns at once. */
export const start = Effect.fnUntraced(function* <Job>({
  atOnce,
  failed,
  keyOf,
  lookMs,
  pauseMs,
  queue,
  run
}: JobWorker<Job>): Effect.fn.Return<void, never, Scope.Scope> {
  const fibers = yield* FiberSet.make<void>()
  const running = new Set<JobKey>()
  let pause = false

  const died = Effect.andThen(
    Effect.logWarning(failed),
    Effect.sync(() => {
      pause = true
    })
  )

  const work = (job: Job) => {
    const key = keyOf(job)
    running.add(key)
    return run(job).pipe(
      Effect.catchCause(() => died),
      // The next job of its key may go now.
      Effect.ensuring(
        Effect.andThen(
          Effect.sync(() => running.delete(key)),
          queue.wakeUp.open
        )
      )
    )
  }

  /** Whether there may be more to claim at once. */
  const look = Effect.gen(function* () {
    const room = atOnce - running.size
    if (room <= 0) return false
    const jobs = yield* queue.claim(room)
    for (const job of jobs) yield* FiberSet.run(fibers, work(job))
    return jobs.length > 0 && jobs.length < room
  })

  yield* Effect.gen(function* () {
    if (pause) {
      pause = false
      yield* Effect.sleep(pauseMs)
    }
    queue.wakeUp.closeUnsafe()
    if (!(yield* look)) yield* Effect.timeoutOption(queue.wakeUp.await, lookMs)
  }).pipe(
    Effect.catchCause(() => died),
    Effect.forever,
    Effect.forkScoped
  )

  const beatMs = (queue.leaseSeconds * 1000) / 3
  yield* Effect.suspend(() => queue.extend([...running])).pipe(
    Effect.catchCause(() => Effect.logWarning("Leases of jobs could not be extended and will be tried again")),
    Effect.delay(beatMs),
    Effect.forever,
    Effect.forkScoped
  )
})
