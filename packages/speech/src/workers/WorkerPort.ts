// A worker thread or a child process, as the supervisor sees it: post, receive, know of its end, kill. Both are used
// directly and not through Effect's `Worker`, because of four facts: the media thread posts by a plain call without a
// fiber or a promise per frame (`Worker.send` is an effect, and each received message forks a fiber); its protocol wants
// Effect loaded in the child, which doubles a thread's start; it asks for a polite end before it kills, which an engine
// deep in its work never sees; and it neither restarts nor bounds anything.
import { fork } from "node:child_process"
import { Worker } from "node:worker_threads"
import { childEnvironment } from "./childEnvironment.ts"

/** What is to be run. `process` is for engines that can abort the process they run in. */
export interface WorkerProgram {
  readonly kind: "thread" | "process"
  /** A module in TypeScript or JavaScript. */
  readonly file: URL
  /** Named in logs. */
  readonly name: string
  /** A thread gets it as `workerData`, a process as JSON in `process.argv[2]`. */
  readonly argument?: unknown
}

/** One thread or process. All calls are synchronous and never throw; posting to one that has ended does nothing. */
export interface WorkerPort {
  /** Of the child process; 0 for a thread. */
  readonly pid: number
  /** `transfer`: buffers given away instead of copied; a process always gets a copy. */
  readonly post: (message: unknown, transfer?: ReadonlyArray<ArrayBuffer>) => void
  /** At once and without asking. Resolved when it has ended. */
  readonly kill: () => Promise<void>
}

/** What a worker tells. `onExit` may come more than once, and comes also when the worker could not be started. */
export interface WorkerEvents {
  /** The thread or process runs; its program may still be loading. */
  readonly onOnline: () => void
  readonly onMessage: (message: unknown) => void
  readonly onExit: () => void
}

/** Starts the program. Throws only what the operating system refuses at once. */
export const startWorker = (program: WorkerProgram, events: WorkerEvents): WorkerPort =>
  program.kind === "thread" ? startThread(program, events) : startProcess(program, events)

const startThread = ({ argument, file, name }: WorkerProgram, events: WorkerEvents): WorkerPort => {
  const worker = new Worker(file, { execArgv: [], name, workerData: argument, env: childEnvironment() })
  worker.on("online", events.onOnline)
  worker.on("message", events.onMessage)
  worker.on("error", events.onExit)
  worker.on("exit", events.onExit)
  return {
    pid: 0,
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    kill: async () => void (await worker.terminate())
  }
}

const startProcess = ({ argument, file }: WorkerProgram, events: WorkerEvents): WorkerPort => {
  const child = fork(file, [JSON.stringify(argument ?? {})], {
    // Typed arrays pass as they are.
    serialization: "advanced",
    execArgv: [],
    env: childEnvironment(),
    stdio: ["ignore", "ignore", "ignore", "ipc"]
  })
  let ended: () => void
  const end = new Promise<void>((resolve) => {
    ended = resolve
  })
  const onEnd = () => {
    ended()
    events.onExit()
  }
  child.on("spawn", events.onOnline)
  child.on("message", events.onMessage)
  child.on("error", onEnd)
  child.on("exit", onEnd)
  return {
    pid: child.pid ?? 0,
    post: (message) => {
      // The callback takes the failure of a write to a process that has just died.
      if (child.connected) child.send(message as object, () => {})
    },
    kill: () => {
      // SIGKILL: a native engine may be deep in a search and would not see a milder signal.
      child.kill("SIGKILL")
      return end
    }
  }
}
