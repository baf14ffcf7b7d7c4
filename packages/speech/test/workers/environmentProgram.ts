// Tells what it sees of its environment and whose it is.
import { parentPort } from "node:worker_threads"
import { dropPrivileges, liveWithParent } from "../../src/workers/childProcess.ts"

const canBeRoot = (): boolean => {
  try {
    process.setuid?.(0)
    return true
  } catch {
    return false
  }
}

const names = Object.keys(process.env)
if (parentPort === null) {
  liveWithParent()
  dropPrivileges()
  process.send?.({ names, uid: process.getuid?.(), canBeRoot: canBeRoot() })
} else parentPort.postMessage({ names, uid: 0, canBeRoot: false })
