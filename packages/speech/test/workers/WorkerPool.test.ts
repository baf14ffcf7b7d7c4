// The pool against programs that misbehave in every way it promises to survive, as a thread and as a child process.
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Queue } from "effect"
import { makeSupervisedWorker } from "../../src/workers/SupervisedWorker.ts"
import { makeWorkerPool } from "../../src/workers/WorkerPool.ts"
import type { PoolOptions } from "../../src/workers/WorkerPool.ts"
import { makeWorkerLeases } from "../../src/workers/WorkerLeases.ts"
import type { WorkerProgram } from "../../src/workers/WorkerPort.ts"
import { until } from "../cases/transcriberCases.ts"
import type { TestAnswer, TestJob } from "./misbehavingProgram.ts"

type Start = "well" | "dies" | "never" | "slowly"
type Options = Partial<PoolOptions<string, TestJob, TestAnswer>>

describe.each(["thread", "process"] as const)("WorkerPool over a %s", (kind) => {
  const program = (start: Start): WorkerProgram => ({
    kind,
    name: "test",
    file: new URL("./misbehavingProgram.ts", import.meta.url),
    argument: start
  })

  const supervised = (start: Start) => ({ program: program(start), isReady: (message: unknown) => message === "ready" })

  const make = (start: Start = "well", options: Options = {}) =>
    makeWorkerPool<string, TestJob, TestAnswer>({
      ...supervised(start),
      workers: 1,
      queueLimit: 8,
      answerMs: 10_000,
      readyMs: 10_000,
      whenDown: "fail",
      protocol: {
        start: (id, what) => ({ id, what }),
        isAbout: (message, id) => message.id === id,
        isLast: (message) => message.isLast,
        cancel: (id) => ({ id, what: "cancel", cancelled: true })
      },
      ...options
    })

  it.live("gives each job its messages, in order", () =>
    Effect.gen(function* () {
      const pool = yield* make("well", { workers: 2 })
      const texts = yield* Effect.forEach(["a", "b", "c", "d"], (what) => pool.run(what, false), {
        concurrency: "unbounded"
      })
      expect(texts.map(({ text }) => text)).toEqual(["a", "b", "c", "d"])
      const answers = yield* pool.submit("twice", false)
      expect((yield* Queue.take(answers)).text).toBe("first")
      expect((yield* Queue.take(answers)).text).toBe("twice")
      expect((yield* Effect.flip(Queue.take(answers)))._tag).toBe("Done")
    })
  )

  it.live("keeps the answers of a program apart that does not number them", () =>
    Effect.gen(function* () {
      const pool = yield* make("well", { protocol: { start: (id, what) => ({ id, what }) } })
      const words = ["a", "b", "c", "d", "e"]
      for (let round = 0; round < 3; round++) {
        const answers = yield* Effect.forEach(words, (what) => pool.run(what, false), { concurrency: "unbounded" })
        expect(answers.map(({ text }) => text)).toEqual(words)
      }
    })
  )

  it.live("fails what waits when its program dies at start, and what comes later at once", () =>
    Effect.gen(function* () {
      const pool = yield* make("dies", { firstPauseMs: 5000 })
      expect(yield* Effect.flip(pool.run("a", false))).toMatchObject({ _tag: "WorkerFault", reason: "Lost" })
      expect(pool.fault()).toContain("ended while")
      const [lasted, fault] = yield* Effect.timed(Effect.flip(pool.run("b", false)))
      expect(fault.reason).toBe("Lost")
      expect(Duration.toMillis(lasted)).toBeLessThan(1000)
    })
  )

  it.live("lets jobs wait through pauses when it is told to, within their bound", () =>
    Effect.gen(function* () {
      const pool = yield* make("dies", { whenDown: "wait", readyMs: 400 })
      expect(yield* Effect.flip(pool.run("a", false))).toMatchObject({ reason: "Timeout" })
      expect(pool.waiting()).toBe(0)
    })
  )

  it.live("fails only the job its worker dies of, and serves the next with another", () =>
    Effect.gen(function* () {
      const pool = yield* make()
      for (const fatal of ["die", "throw"]) {
        const [lost, kept] = yield* Effect.all([Effect.flip(pool.run(fatal, false)), pool.run("ok", false)], {
          concurrency: "unbounded"
        })
        expect(lost.reason).toBe("Lost")
        expect(kept.text).toBe("ok")
      }
    })
  )

  it.live("kills a worker that hangs in a job, and serves the next with another", () =>
    Effect.gen(function* () {
      const pool = yield* make("well", { answerMs: 1000 })
      expect((yield* pool.run("ok", false)).text).toBe("ok")
      expect((yield* Effect.flip(pool.run("hang", false))).reason).toBe("Timeout")
      expect((yield* pool.run("ok", false)).text).toBe("ok")
    })
  )

  it.live("kills a worker that never gets ready", () =>
    Effect.gen(function* () {
      const pool = yield* make("never", { startMs: 300 })
      expect(yield* Effect.flip(pool.run("a", false))).toMatchObject({ reason: "Lost" })
      expect(pool.fault()).toContain("not ready in time")
    })
  )

  it.live("waits for a worker that starts slowly", () =>
    Effect.gen(function* () {
      const pool = yield* make("slowly")
      expect((yield* pool.run("ok", false)).text).toBe("ok")
    })
  )

  it.live("cancels: a waiting job leaves the queue, a running one is told so and frees its worker", () =>
    Effect.gen(function* () {
      const pool = yield* make()
      // With a worker that is up, a job is given to it at once.
      yield* pool.run("ok", false)
      const running = yield* Effect.forkChild(pool.run("hang", false), { startImmediately: true })
      const waiting = yield* Effect.forkChild(pool.run("never served", false), { startImmediately: true })
      expect(pool.waiting()).toBe(1)
      yield* Fiber.interrupt(waiting)
      expect(pool.waiting()).toBe(0)
      yield* Fiber.interrupt(running)
      // Far sooner than the hanging job's bound.
      expect((yield* Effect.timeout(pool.run("ok", false), 5000)).text).toBe("ok")
    })
  )

  it.live("refuses what its queue cannot hold, and serves urgent jobs first", () =>
    Effect.gen(function* () {
      const pool = yield* make("well", { queueLimit: 2 })
      yield* pool.run("ok", false)
      const order: Array<string> = []
      const ask = (what: string, urgent: boolean) =>
        Effect.forkChild(
          Effect.tap(pool.run(what, urgent), ({ text }) => Effect.sync(() => order.push(text))),
          {
            startImmediately: true
          }
        )
      const fibers = [yield* ask("slow", false), yield* ask("later", false), yield* ask("urgent", true)]
      expect(yield* Effect.flip(pool.run("refused", true))).toMatchObject({ reason: "Full" })
      for (const fiber of fibers) yield* Fiber.join(fiber)
      expect(order).toEqual(["slow", "urgent", "later"])
    })
  )

  it.live("fails what runs and what waits when it is stopped while busy", () =>
    Effect.gen(function* () {
      const fibers = yield* Effect.scoped(
        Effect.gen(function* () {
          const pool = yield* make()
          yield* pool.run("ok", false)
          const both = yield* Effect.forEach(["hang", "waits"], (what) =>
            Effect.forkDetach(Effect.flip(pool.run(what, false)), { startImmediately: true })
          )
          yield* Effect.sleep(50)
          return both
        })
      )
      for (const fiber of fibers) expect((yield* Fiber.join(fiber)).reason).toBe("Lost")
    })
  )

  it.live("does not spin over a program that only dies: pauses double", () =>
    Effect.gen(function* () {
      const worker = yield* makeSupervisedWorker<TestJob, TestAnswer>({ ...supervised("dies"), firstPauseMs: 100 })
      let [starts, before] = [1, worker.state]
      worker.watch(() => {
        const { state } = worker
        if (state === "starting" && before !== "starting") starts++
        before = state
      })
      yield* Effect.sleep(1500)
      // Pauses of 100, 200, 400 and 800 ms: at most five starts fit in.
      expect(starts).toBeGreaterThan(1)
      expect(starts).toBeLessThan(6)
      expect(worker.deaths).toBeGreaterThan(0)
    })
  )

  it.live("replaces at once one that had worked, and one that dies idle without having worked ever later", () =>
    Effect.gen(function* () {
      const worker = yield* makeSupervisedWorker<TestJob, TestAnswer>({ ...supervised("well"), firstPauseMs: 60_000 })
      const kill = Effect.map(worker.ready, (running) => running.kill("for the test"))
      for (let i = 0; i < 3; i++) {
        ;(yield* worker.ready).served()
        yield* kill
        expect(worker.state).toBe("starting")
      }
      yield* kill
      expect(worker.state).toBe("starting")
      yield* kill
      expect(worker.state).toBe("paused")
      expect(yield* Effect.flip(worker.ready)).toMatchObject({ reason: "Lost" })
    })
  )

  it.live("leases workers one user each, refuses one too many, and gives back only living ones", () =>
    Effect.gen(function* () {
      const leases = yield* makeWorkerLeases<TestJob, TestAnswer>({ ...supervised("well"), size: 2, warm: 1 })
      const first = yield* leases.take
      const second = yield* Effect.scoped(
        Effect.gen(function* () {
          const second = yield* leases.take
          expect(second).not.toBe(first)
          expect(yield* Effect.flip(leases.take)).toMatchObject({ reason: "Full" })
          second.served()
          second.kill("for the test")
          return second
        })
      )
      const third = yield* leases.take
      expect(third).not.toBe(second)
      const seen: Array<string> = []
      third.listen({ onMessage: ({ text }) => seen.push(text), onExit: () => {} })
      third.post({ id: 1, what: "ok" })
      yield* until(() => seen.length === 1)
    })
  )
})
