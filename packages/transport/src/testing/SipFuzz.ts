// Says a great many wrong things to the SIP server, without sockets: single messages, walks through calls either way
// where some word is wrong, and calls that are accepted and then left alone until their timers have fired. Counts what
// came of it, and measures what stays in memory.
import { setTimeout as rest } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect, Exit, FiberSet, Scope } from "effect"
import { SipFuzzer } from "./SipFuzzer.ts"
import { chanceOf } from "./SipGrammar.ts"

/** How much to say, and the seed that makes it repeatable. */
export interface FuzzOptions {
  readonly messages: number
  readonly seed: number
  /** How often the heap is collected and measured, evenly over the run. Default 40. */
  readonly samples?: number
  /**
   * Some accepted calls that nobody acknowledges are left until the server gives them up itself, which takes 32 s and is
   * waited for in the end; otherwise all are hung up after some seconds.
   */
  readonly patient?: boolean
  readonly onProgress?: (said: number, heapBytes: number) => void
}

/** What came of it. */
export interface FuzzReport {
  readonly messages: number
  readonly tookMs: number
  /** Exceptions that reached the server's own net, or the process. */
  readonly faults: ReadonlyArray<string>
  /** Requests that deserved an answer and got none, clean ones too; the first few. */
  readonly unanswered: ReadonlyArray<string>
  /** Clean requests that were said in between. */
  readonly probes: number
  readonly calls: number
  readonly answered: number
  /** Calls accepted and then left alone for seconds. */
  readonly leftOpen: number
  readonly placed: number
  /** How often each status was given. */
  readonly statuses: Readonly<Record<string, number>>
  /** Bytes a message leaves behind, by a line through the second half, after collecting. */
  readonly heapBytesPerMessage: number
  readonly heapBytes: { readonly middle: number; readonly end: number }
  /** Calls the server still knows in the end. */
  readonly left: number
}

/** A 200 that nobody acknowledges is given up after 32 s. */
const givenUpMs = 40_000

/** Says `messages` wrong things and reports. Takes about 1 ms for each, and some seconds in the end. */
export const fuzzSip = async (options: FuzzOptions): Promise<FuzzReport> => {
  const scope = Scope.makeUnsafe()
  const run = await Effect.runPromise(Scope.provide(FiberSet.makeRuntime<never, void>(), scope))
  const fuzzer = new SipFuzzer(chanceOf(options.seed), run, options.patient === true)
  const { fault } = fuzzer
  process.on("unhandledRejection", fault)
  process.on("uncaughtException", fault)
  const beganMs = performance.now()
  const heap = await sayAll(fuzzer, options)
  const tookMs = performance.now() - beganMs
  await fuzzer.settle(options.patient === true ? givenUpMs : 0)
  const left = fuzzer.calls.liveCount
  await Effect.runPromise(Scope.close(scope, Exit.void))
  process.off("unhandledRejection", fault)
  process.off("uncaughtException", fault)
  const later = heap.slice(Math.floor(heap.length / 2))
  const { counts, faults, statuses, unanswered } = fuzzer
  const { said, ...others } = counts
  return {
    messages: said,
    tookMs,
    faults,
    unanswered,
    ...others,
    statuses,
    heapBytesPerMessage: slopeOf(later),
    heapBytes: { middle: later[0]?.[1] ?? 0, end: later.at(-1)?.[1] ?? 0 },
    left
  }
}

type HeapSample = readonly [said: number, bytes: number]

/** Mostly stray messages; the heap is measured now and then. */
const sayAll = async (
  fuzzer: SipFuzzer,
  { messages, onProgress, samples = 40 }: FuzzOptions
): Promise<ReadonlyArray<HeapSample>> => {
  const { counts } = fuzzer
  const collect = collector()
  const heap: Array<HeapSample> = []
  const every = Math.max(1, Math.floor(messages / samples))
  let sampled = 0
  while (counts.said < messages) {
    await fuzzer.act()
    if (Math.floor(counts.said / every) <= sampled) continue
    sampled = Math.floor(counts.said / every)
    // What a call answers repeats for is over.
    await rest(15)
    collect()
    const bytes = process.memoryUsage().heapUsed
    heap.push([counts.said, bytes])
    onProgress?.(counts.said, bytes)
  }
  return heap
}

const slopeOf = (points: ReadonlyArray<readonly [number, number]>): number => {
  const [x, y] = [0, 1].map((i) => points.reduce((sum, point) => sum + (point[i] ?? 0), 0) / points.length) as [
    number,
    number
  ]
  const over = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0)
  const under = points.reduce((sum, [a]) => sum + (a - x) ** 2, 0)
  return under === 0 ? 0 : over / under
}

const collector = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc") as () => void
}
