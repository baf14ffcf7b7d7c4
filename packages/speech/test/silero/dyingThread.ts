// A voice activity thread for tests: dies at a window that begins with 7, else answers 0.25.
import { parentPort } from "node:worker_threads"
import type { SileroBatch } from "../../src/silero/SileroBatch.ts"

parentPort?.on("message", (batch: SileroBatch) => {
  if (batch.windows[0] === 7) process.exit(1)
  parentPort?.postMessage({ probabilities: new Float32Array(batch.streams.length).fill(0.25) })
})
parentPort?.postMessage("ready")
