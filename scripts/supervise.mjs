// The service in a process of its own: signals are passed on, the exit code comes back. When it ends by a crash, or asks for
// a fresh process (exit code 75), it is started again: at once after a long life, later and later after short ones.
import { spawn } from "node:child_process"
import { join } from "node:path"

const restartCode = 75
/** Signals by which a process crashes or is killed from outside. */
const crashes = new Set(["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGKILL", "SIGSEGV"])
const shortestWaitMs = 500
const longestWaitMs = 30_000
/** A process that lived this long is no part of a series of crashes. */
const longLifeMs = 60_000

/** Starts it and ends this process as it ends. `args`: of Node, the program first. */
export const startService = ({ args, cwd, nodeBinary }) => {
  let child
  let stopping = false
  let waitMs = 0
  const start = () => {
    const began = Date.now()
    child = spawn(nodeBinary, args, {
      cwd,
      // The channel tells the service when this process is gone.
      stdio: ["inherit", "inherit", "inherit", "ipc"],
      env: { NODE_COMPILE_CACHE: join(cwd, "node_modules", ".cache", "node-compile"), ...process.env }
    })
    child.on("error", (error) => {
      console.error(`parley: cannot start the service: ${error.message}`)
      process.exit(1)
    })
    child.on("exit", (code, signal) => {
      const crashed = code === restartCode || crashes.has(signal)
      if (stopping || !crashed) process.exit(code ?? (signal === "SIGINT" ? 130 : 1))
      waitMs = Date.now() - began > longLifeMs ? 0 : Math.min(longestWaitMs, Math.max(shortestWaitMs, waitMs * 2))
      console.error(`parley: the service ended (${signal ?? code}) and is started again in ${waitMs / 1000} s`)
      setTimeout(() => (stopping ? process.exit(0) : start()), waitMs)
    })
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      stopping = true
      if (child.exitCode === null && child.signalCode === null) child.kill(signal === "SIGHUP" ? "SIGTERM" : signal)
    })
  }
  start()
}
