// The child process of a recogniser that works while callers speak: one model, one stream for each utterance under
// way. Decoding holds this thread, in steps of a few frames, so many callers take turns.
import { dropPrivileges, liveWithParent } from "../workers/childProcess.ts"
import { toFloats } from "./samples.ts"
import type { EngineTask, FromRecogniser, ToRecogniser } from "./SherpaMessage.ts"
import { loadRuntime } from "./sherpaRuntime.ts"
import type { OnlineStream } from "./sherpaRuntime.ts"

/** Silence after an utterance, so that the models' look-ahead does not cut its end. */
const tail = new Float32Array(16_000 * 0.8)

interface Utterance {
  readonly stream: OnlineStream
  shown: string
  samples: number
}

const tell = (message: FromRecogniser): void => {
  process.send?.(message)
}

liveWithParent()
const task = JSON.parse(process.argv[2] ?? "{}") as EngineTask & { readonly _tag: "Recognise" }
const recogniser = new (loadRuntime().OnlineRecognizer)({
  featConfig: { sampleRate: 16_000, featureDim: 80 },
  modelConfig: { ...task.model, numThreads: task.threads, debug: 0 },
  enableEndpoint: 0
})
dropPrivileges()
const utterances = new Map<number, Utterance>()

const utteranceOf = (utterance: number): Utterance => {
  const known = utterances.get(utterance)
  if (known !== undefined) return known
  const fresh = { stream: recogniser.createStream(), shown: "", samples: 0 }
  utterances.set(utterance, fresh)
  return fresh
}

const accept = ({ stream }: Utterance, samples: Float32Array): void => {
  stream.acceptWaveform({ sampleRate: 16_000, samples })
  while (recogniser.isReady(stream)) recogniser.decode(stream)
}

const handle = (message: ToRecogniser): void => {
  const { caller, utterance } = message
  if (message._tag === "Audio") {
    const current = utteranceOf(utterance)
    current.samples += message.samples.length
    accept(current, toFloats(message.samples))
    tell({ _tag: "Digested", caller, utterance, samples: message.samples.length })
    const text = recogniser.getResult(current.stream).text.trim()
    if (text !== current.shown && text !== "") tell({ _tag: "Partial", caller, utterance, text })
    current.shown = text
    return
  }
  if (message._tag === "Commit") {
    const current = utteranceOf(utterance)
    accept(current, tail)
    current.stream.inputFinished()
    while (recogniser.isReady(current.stream)) recogniser.decode(current.stream)
    const { text, timestamps, tokens } = recogniser.getResult(current.stream)
    tell({
      _tag: "Final",
      caller,
      utterance,
      hypothesis: { text, timestamps, tokens },
      lengthMs: current.samples / 16
    })
  }
  utterances.delete(utterance)
}

process.on("message", (message: ToRecogniser) => {
  try {
    handle(message)
  } catch {
    utterances.delete(message.utterance)
    tell({ _tag: "Failed", caller: message.caller, utterance: message.utterance })
  }
})
tell({ _tag: "Ready" })
