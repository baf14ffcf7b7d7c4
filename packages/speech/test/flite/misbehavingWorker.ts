// A worker for tests: it dies, hangs or works as its job's text says, and counts nothing.
import { parentPort } from "node:worker_threads"
import type { FliteJob } from "../../src/flite/FliteJob.ts"

parentPort?.on("message", (job: FliteJob) => {
  const text = job._tag === "Speak" ? job.text : job.tokens.join(" ")
  if (text === "die") process.exit(3)
  if (text === "throw") throw new Error("thrown inside the worker")
  if (text === "hang") return
  const reply = () =>
    parentPort?.postMessage({ _tag: "Spoken", samples: new Int16Array(100), sampleRate: 16000, phones: [], text })
  if (text.startsWith("slow")) setTimeout(reply, 100)
  else reply()
})
parentPort?.postMessage("ready")
