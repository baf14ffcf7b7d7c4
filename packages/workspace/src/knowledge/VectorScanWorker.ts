// Worker entry: keeps rows of vectors by key, the least lately used go first; answers with the nearest of all keys.
import { parentPort } from "node:worker_threads"
import { nearest } from "./vectors.ts"
import type { Scanned } from "./VectorScan.ts"

/** What is asked of the worker; answered in order. */
export interface ScanQuestion {
  readonly keys: ReadonlyArray<string>
  readonly question: Int8Array
  readonly most: number
  /** To be kept. */
  readonly rows: ReadonlyArray<{ readonly key: string; readonly bytes: Int8Array }>
}

/** Its answer. */
export interface ScanAnswer {
  /** Keys that are not kept; nothing was looked for then. */
  readonly missing: ReadonlyArray<string>
  readonly found: ReadonlyArray<Scanned>
}

const keptBytes = 256 * 2 ** 20
const kept = new Map<string, Int8Array>()
let bytesKept = 0

const keep = (key: string, bytes: Int8Array): void => {
  drop(key)
  kept.set(key, bytes)
  bytesKept += bytes.length
}

const drop = (key: string): void => {
  bytesKept -= kept.get(key)?.length ?? 0
  kept.delete(key)
}

parentPort?.on("message", ({ keys, most, question, rows }: ScanQuestion) => {
  for (const { bytes, key } of rows) keep(key, bytes)
  const missing = keys.filter((key) => !kept.has(key))
  if (missing.length > 0) return parentPort?.postMessage({ missing, found: [] } satisfies ScanAnswer)
  const found = keys
    .flatMap((key) => {
      const bytes = kept.get(key) ?? new Int8Array()
      keep(key, bytes)
      return nearest(bytes, question, most).map((one) => ({ key, position: one.position, likeness: one.likeness }))
    })
    .toSorted((a, b) => b.likeness - a.likeness)
    .slice(0, most)
  // Only now: one question may need more than is kept between questions.
  for (const key of kept.keys()) {
    if (bytesKept <= keptBytes) break
    drop(key)
  }
  parentPort?.postMessage({ missing: [], found } satisfies ScanAnswer)
})
