// Looks for the chunks that mean what a question means, in a worker: thousands of vectors are compared, and live calls
// are served by this thread. The worker keeps what it was given, up to a bound; what it has not got it asks for.
import { Effect, type Scope } from "effect"
import { makeWorkerPool } from "@parley/speech/workers/WorkerPool"
import type { ScanAnswer, ScanQuestion } from "./VectorScanWorker.ts"

/** A chunk that was found; `likeness` grows with nearness. */
export interface Scanned {
  /** As given. */
  readonly key: string
  readonly position: number
  readonly likeness: number
}

/** Nearest vectors of many keys. A worker that is lost or overloaded finds nothing; the call goes on. */
export interface VectorScan {
  /**
   * Best first over all keys.
   * @param load the rows of a key that is not kept.
   */
  readonly find: <E>(
    keys: ReadonlyArray<string>,
    question: Int8Array,
    most: number,
    load: (key: string) => Effect.Effect<Int8Array, E>
  ) => Effect.Effect<ReadonlyArray<Scanned>, E>
}

/** Questions that wait; one more is answered with nothing, as is one that is not answered in time. */
const mostWaiting = 256
const answerMs = 10_000

/** The worker starts at once: the first question of a call must not wait for it. */
export const make: Effect.Effect<VectorScan, never, Scope.Scope> = Effect.gen(function* () {
  const pool = yield* makeWorkerPool<ScanQuestion, ScanQuestion, ScanAnswer>({
    program: { kind: "thread", file: new URL("./VectorScanWorker.ts", import.meta.url), name: "vectors" },
    workers: 1,
    queueLimit: mostWaiting,
    answerMs,
    readyMs: answerMs,
    protocol: { start: (_, question) => question },
    whenDown: "fail"
  })
  const ask = (question: ScanQuestion): Effect.Effect<ScanAnswer> =>
    Effect.catch(pool.run(question, false), () => Effect.succeed({ missing: [], found: [] }))

  return {
    find: Effect.fnUntraced(function* (keys, question, most, load) {
      const first = yield* ask({ keys, question, most, rows: [] })
      if (first.missing.length === 0) return first.found
      const rows = yield* Effect.forEach(first.missing, (key) => Effect.map(load(key), (bytes) => ({ key, bytes })))
      return (yield* ask({ keys, question, most, rows })).found
    })
  }
})
