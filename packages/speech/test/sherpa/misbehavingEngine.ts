// An engine process for tests: what it does wrong is said by the text it is to speak.
import type { FromEngine, ToEngine } from "../../src/sherpa/SherpaMessage.ts"

process.on("disconnect", () => process.exit(0))
const tell = (message: FromEngine) => process.send?.(message)
const sampleRate = 16_000

process.on("message", (message: ToEngine) => {
  if (message._tag !== "Speak") return
  const { id, order } = message
  if (order.text === "hangs") return
  if (order.text === "pid then hangs") {
    const samples = Int16Array.of(Math.floor(process.pid / 10_000), process.pid % 10_000)
    return tell({ _tag: "Sound", id, samples, sampleRate })
  }
  tell({ _tag: "Sound", id, samples: new Int16Array(1600).fill(1000), sampleRate })
  return tell({ _tag: "Done", id })
})
tell({ _tag: "Ready" })
