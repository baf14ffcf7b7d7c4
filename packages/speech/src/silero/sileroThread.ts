// The thread of voice activity: computes each batch in runs of at most 16 windows of different streams.
import { parentPort } from "node:worker_threads"
import { windowSamples } from "../ports/VoiceActivity.ts"
import { threadReady } from "./SileroBatch.ts"
import type { SileroBatch } from "./SileroBatch.ts"
import { largestRun, SileroModel, StreamState } from "./SileroModel.ts"

const port = parentPort
if (port === null) throw new Error("sileroThread runs as a worker thread")

const model = await SileroModel.load(new URL("../../models/silero_vad_v6.onnx", import.meta.url))
const states = new Map<number, StreamState>()

const probabilitiesOf = async (batch: SileroBatch): Promise<Float32Array<ArrayBuffer>> => {
  for (const stream of batch.closed) states.delete(stream)
  const probabilities = new Float32Array(batch.streams.length)
  let left = [...batch.streams.keys()]
  while (left.length > 0) {
    const run: Array<number> = []
    const later: Array<number> = []
    const seen = new Set<number>()
    for (const at of left) {
      const stream = batch.streams[at]!
      if (run.length < largestRun && !seen.has(stream)) run.push(at)
      else later.push(at)
      seen.add(stream)
    }
    const windows = new Int16Array(run.length * windowSamples)
    for (const [i, at] of run.entries()) {
      windows.set(batch.windows.subarray(at * windowSamples, (at + 1) * windowSamples), i * windowSamples)
    }
    const result = await model.run(
      run.map((at) => stateOf(batch.streams[at]!)),
      windows
    )
    for (const [i, at] of run.entries()) probabilities[at] = result[i]!
    left = later
  }
  return probabilities
}

const stateOf = (stream: number): StreamState => {
  const known = states.get(stream)
  if (known !== undefined) return known
  const made = new StreamState()
  states.set(stream, made)
  return made
}

// One after another: a stream's state must have moved on before its next window.
let before = Promise.resolve()
port.on("message", (batch: SileroBatch) => {
  before = before
    .then(() => probabilitiesOf(batch))
    .then((probabilities) => port.postMessage({ probabilities }, [probabilities.buffer]))
})

await model.run([new StreamState()], new Int16Array(windowSamples))
port.postMessage(threadReady)
