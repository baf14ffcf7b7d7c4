// A recorder's thread that takes everything and writes nothing, but repairs.
import { parentPort } from "node:worker_threads"

parentPort?.on("message", (question: { readonly _tag: string; readonly call: number }) => {
  if (question._tag !== "Repair") return
  parentPort?.postMessage({ _tag: "Repaired", call: question.call, durationMs: 700, found: true })
})
