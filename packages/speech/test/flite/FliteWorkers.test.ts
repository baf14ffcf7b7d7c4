import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { FliteJob } from "../../src/flite/FliteJob.ts"
import { makeFliteWorkers } from "../../src/flite/FliteWorkers.ts"

const program = new URL("./misbehavingWorker.ts", import.meta.url)
const job = (text: string): FliteJob => ({ _tag: "Speak", text, voice: { voice: "slt", stretch: 1 } })

describe("FliteWorkers", () => {
  it.live("replaces a thread that dies or throws; only its own job fails", () =>
    Effect.gen(function* () {
      const workers = yield* makeFliteWorkers({ threads: 1, program })
      for (const fatal of ["die", "throw"]) {
        const [lost, kept] = yield* Effect.all(
          [Effect.flip(workers.run(job(fatal), false)), workers.run(job("ok"), false)],
          {
            concurrency: "unbounded"
          }
        )
        expect(lost).toMatchObject({ _tag: "SpeechError", reason: "Unavailable", provider: "flite" })
        expect(kept._tag).toBe("Spoken")
      }
    })
  )

  it.live("gives up on a thread that hangs, and goes on with a new one", () =>
    Effect.gen(function* () {
      const workers = yield* makeFliteWorkers({ threads: 1, program, jobMs: 400 })
      expect(yield* Effect.flip(workers.run(job("hang"), false))).toMatchObject({ reason: "Timeout" })
      expect((yield* workers.run(job("ok"), false))._tag).toBe("Spoken")
    })
  )

  it.live("serves urgent jobs first and forgets those whose caller left", () =>
    Effect.gen(function* () {
      const workers = yield* makeFliteWorkers({ threads: 1, program })
      const order: Array<string> = []
      const ask = (text: string, urgent: boolean) =>
        workers.run(job(text), urgent).pipe(
          Effect.tap(() => Effect.sync(() => order.push(text))),
          Effect.forkChild({ startImmediately: true })
        )
      const running = yield* ask("slow", false)
      yield* Effect.sleep(50)
      const later = yield* ask("later", false)
      const gone = yield* ask("gone", false)
      const urgent = yield* ask("urgent", true)
      yield* Fiber.interrupt(gone)
      yield* Fiber.join(running)
      yield* Fiber.join(later)
      yield* Fiber.join(urgent)
      expect(order.filter((text) => text !== "slow")).toEqual(["urgent", "later"])
      expect(workers.waiting()).toBe(0)
    })
  )

  it.live("refuses what its queue cannot hold", () =>
    Effect.gen(function* () {
      const workers = yield* makeFliteWorkers({ threads: 1, program, queueLimit: 2 })
      const results = yield* Effect.all(
        Array.from({ length: 6 }, (_, i) => Effect.exit(workers.run(job(`slow ${i}`), false))),
        { concurrency: "unbounded" }
      )
      const refused = results.filter((exit) => exit._tag === "Failure")
      expect(refused.length).toBeGreaterThanOrEqual(3)
      for (const exit of refused) expect(JSON.stringify(exit)).toContain("Overloaded")
    })
  )

  it.live("answers in bounded time when no thread ever starts", () =>
    Effect.gen(function* () {
      const workers = yield* makeFliteWorkers({ program: new URL("./absent.ts", import.meta.url), waitMs: 300 })
      expect(yield* Effect.flip(workers.run(job("ok"), false))).toMatchObject({ reason: "Timeout" })
    })
  )

  it.live("fails what waits when its scope closes", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.scoped(
        Effect.gen(function* () {
          const workers = yield* makeFliteWorkers({ threads: 1, program })
          const fiber = yield* Effect.forkDetach(Effect.flip(workers.run(job("hang"), false)), {
            startImmediately: true
          })
          yield* Effect.sleep(200)
          return fiber
        })
      )
      expect(yield* Fiber.join(waiting)).toMatchObject({ reason: "Unavailable" })
    })
  )
})
