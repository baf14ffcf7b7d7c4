// A thread or a child process for tests. Its argument says how it starts; each job says
// what becomes of it.
import { parentPort, workerData } from "node:worker_threads"

export interface TestJob {
  readonly id: number
  /** `slow`, `hang`, `die`, `throw`, `twice`, else answered at once. */
  readonly what: string
  readonly cancelled?: true
}

export interface TestAnswer {
  readonly id: number
  readonly text: string
  readonly isLast: boolean
}

const start = (parentPort === null ? JSON.parse(process.argv[2] ?? '""') : workerData) as string
const tell = (message: TestAnswer | "ready") =>
  parentPort === null ? process.send?.(message) : parentPort.postMessage(message)
const cancelled = new Set<number>()

const work = ({ id, what, ...job }: TestJob): void => {
  const answer = (text: string, isLast = true) => tell({ id, text, isLast })
  if (job.cancelled === true) {
    cancelled.add(id)
    // A job that hangs by itself ends when it is told to.
    if (what === "cancel") answer("cancelled")
    return
  }
  if (what === "die") process.exit(3)
  if (what === "throw") throw new Error("thrown inside the worker")
  if (what === "hang") return
  if (what === "slow") return void setTimeout(() => answer("slow"), 150)
  if (what === "twice") answer("first", false)
  answer(what)
}

process.on("disconnect", () => process.exit(0))
if (parentPort === null) process.on("message", (job: TestJob) => work(job))
else parentPort.on("message", work)

if (start === "dies") process.exit(1)
if (start === "never") setInterval(() => {}, 1000)
else setTimeout(() => tell("ready"), start === "slowly" ? 400 : 0)
