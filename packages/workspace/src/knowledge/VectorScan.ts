// Looks for the chunks that mean what a question means, in a worker: thousands of vectors are compared, and live calls
// are served by this thread. The worker keeps what it was given, up to `keptBytes`; what it has not got it asks for.
import { Effect, type Scope } from "effect"
import { Worker } from "node:worker_threads"
import type { ScanAnswer, ScanQuestion } from "./VectorScanWorker.ts"

/** A chunk and its cosine with the question. */
export interface Scanned {
  /** As given. */
  readonly key: string
  readonly position: number
  readonly likeness: number
}

/** Search by meaning. */
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

const keptBytes = 256 * 2 ** 20

/** The worker lives until the scope ends. */
export const make: Effect.Effect<VectorScan, never, Scope.Scope> = Effect.gen(function* () {
  let worker: Worker | undefined
  let asked = 0
  const waiting = new Map<number, (answer: ScanAnswer) => void>()
  yield* Effect.addFinalizer(() => Effect.promise(async () => void (await worker?.terminate())))

  const running = (): Worker => {
    if (worker !== undefined) return worker
    const begun = new Worker(new URL("./VectorScanWorker.ts", import.meta.url), { workerData: { keptBytes } })
    begun.unref()
    begun.on("message", (answer: ScanAnswer) => waiting.get(answer.id)?.(answer))
    begun.on("error", () => {
      worker = undefined
      for (const [id, answer] of waiting) answer({ id, missing: [], found: [] })
    })
    return (worker = begun)
  }

  // The first question of a call must not wait for it.
  running()

  const ask = (question: Omit<ScanQuestion, "id">): Effect.Effect<ScanAnswer> =>
    Effect.callback<ScanAnswer>((resume) => {
      const id = ++asked
      waiting.set(id, (answer) => resume(Effect.succeed(answer)))
      running().postMessage({ id, ...question } satisfies ScanQuestion)
      return Effect.sync(() => waiting.delete(id))
    }).pipe(Effect.tap(({ id }) => Effect.sync(() => waiting.delete(id))))

  return {
    find: Effect.fnUntraced(function* (keys, question, most, load) {
      const first = yield* ask({ keys, question, most, rows: [] })
      if (first.missing.length === 0) return first.found
      const rows = yield* Effect.forEach(first.missing, (key) => Effect.map(load(key), (bytes) => ({ key, bytes })))
      return (yield* ask({ keys, question, most, rows })).found
    })
  }
})
