// A listener process for tests: answers a commit with its process id, and no commit after any audio.
import type { FromRecogniser, ToRecogniser } from "../../src/sherpa/SherpaMessage.ts"

process.on("disconnect", () => process.exit(0))
const tell = (message: FromRecogniser) => process.send?.(message)
let deaf = false

process.on("message", ({ _tag, caller, utterance }: ToRecogniser) => {
  if (_tag === "Audio") deaf = true
  if (_tag !== "Commit" || deaf) return
  const hypothesis = { text: String(process.pid), tokens: [], timestamps: [] }
  tell({ _tag: "Final", caller, utterance, hypothesis, lengthMs: 0 })
})
tell({ _tag: "Ready" })
