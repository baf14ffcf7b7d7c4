import { execFileSync, fork } from "node:child_process"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { makePocketSphinxTranscriber } from "../../src/pocketsphinx/PocketSphinxTranscriber.ts"
import type { PocketSphinxOptions } from "../../src/pocketsphinx/PocketSphinxTranscriber.ts"
import { finals, transcriptLog, until } from "../cases/transcriberCases.ts"

const make = (library: string, options: PocketSphinxOptions = {}) =>
  makePocketSphinxTranscriber({
    installation: { library, baseLibrary: "", acousticModel: "", languageModel: "", dictionary: "" },
    file: new URL("./misbehavingRecogniser.ts", import.meta.url),
    ...options
  })

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !execFileSync("ps", ["-o", "stat=", "-p", String(pid)])
      .toString()
      .startsWith("Z")
  } catch {
    return false
  }
}

describe("the processes of PocketSphinx", () => {
  it.live("refuses streams beyond its size and serves again when one closes", () =>
    Effect.gen(function* () {
      const transcriber = yield* make("works", { poolSize: 2 })
      const first = yield* Scope.make()
      yield* Scope.provide(transcriber.open(transcriptLog().options), first)
      yield* transcriber.open(transcriptLog().options)
      expect(yield* Effect.flip(transcriber.open(transcriptLog().options))).toMatchObject({
        reason: "Overloaded",
        provider: "pocketsphinx"
      })
      yield* Scope.close(first, Exit.void)
      const { events, options } = transcriptLog()
      const again = yield* transcriber.open(options)
      again.commit()
      yield* until(() => finals(events).length === 1)
    })
  )

  it.live("tells a stream once that its process died, and replaces the process", () =>
    Effect.gen(function* () {
      const transcriber = yield* make("dies", { poolSize: 1, finalMs: 20 })
      for (let round = 0; round < 2; round++) {
        const { events, failures, options } = transcriptLog()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const stream = yield* transcriber.open(options)
            stream.push(new Int16Array(1600))
            stream.commit()
            yield* until(() => failures.length > 0)
            stream.push(new Int16Array(1600))
            stream.commit()
            yield* Effect.sleep(50)
          })
        )
        expect(failures).toMatchObject([{ reason: "Unavailable" }])
        expect(events).toEqual([])
      }
    })
  )

  it.live("gives a commit a bound, and does not hand a hanging process on", () =>
    Effect.gen(function* () {
      const transcriber = yield* make("hangs", { poolSize: 1, finalMs: 100 })
      const { failures, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      stream.commit()
      stream.commit()
      yield* until(() => failures.length > 0)
      yield* Effect.sleep(150)
      expect(failures).toMatchObject([{ reason: "Timeout" }])
      yield* transcriber.open(transcriptLog().options)
    })
  )

  it.live("fails an open when the process cannot start", () =>
    Effect.gen(function* () {
      const transcriber = yield* make("never-starts", { poolSize: 1 })
      expect(yield* Effect.flip(transcriber.open(transcriptLog().options))).toMatchObject({ reason: "Unavailable" })
    })
  )

  it.live("refuses another language", () =>
    Effect.gen(function* () {
      const transcriber = yield* make("works")
      expect(yield* Effect.flip(transcriber.open(transcriptLog("de").options))).toMatchObject({
        reason: "LanguageNotSupported"
      })
    })
  )

  it.live("leaves no process behind when its scope closes", () =>
    Effect.gen(function* () {
      const { events, options } = transcriptLog()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const transcriber = yield* make("works", { poolSize: 2 })
          const stream = yield* transcriber.open(options)
          stream.commit()
          yield* until(() => finals(events).length === 1)
        })
      )
      const pid = Number(finals(events)[0]?.text.slice(3))
      expect(pid).toBeGreaterThan(1)
      yield* until(() => !alive(pid))
    })
  )

  it.live("dies with a server that was killed", () =>
    Effect.gen(function* () {
      const server = fork(new URL("./killedServer.ts", import.meta.url), { execArgv: [] })
      const pid = yield* Effect.promise(
        () => new Promise<number>((resolve) => server.once("message", (m) => resolve(Number(m))))
      )
      expect(alive(pid)).toBe(true)
      server.kill("SIGKILL")
      yield* until(() => !alive(pid))
    })
  )
})
