// The child process of a recogniser that hears while callers speak: one model, one stream for each utterance under
// way. Decoding holds this thread, in steps of a few frames, so many callers take turns.
import { liveWithParent } from "./processLife.ts"
import { toFloats } from "./samples.ts"
import type { EngineTask, FromListener, ToListener } from "./SherpaMessage.ts"
import { loadRuntime } from "./sherpaRuntime.ts"
import type { OnlineStream } from "./sherpaRuntime.ts"

/** Silence after an utterance, so that the models' look-ahead does not cut its end. */
const tail = new Float32Array(16_000 * 0.8)

interface Hearing {
  readonly stream: OnlineStream
  shown: string
  samples: number
}

const tell = (message: FromListener): void => {
  process.send?.(message)
}

liveWithParent()
const task = JSON.parse(process.argv[2] ?? "{}") as EngineTask & { readonly _tag: "Hear" }
const recogniser = new (loadRuntime().OnlineRecognizer)({
  featConfig: { sampleRate: 16_000, featureDim: 80 },
  modelConfig: { ...task.model, numThreads: task.threads, debug: 0 },
  enableEndpoint: 0
})
const hearings = new Map<number, Hearing>()

const hearingOf = (utterance: number): Hearing => {
  const known = hearings.get(utterance)
  if (known !== undefined) return known
  const fresh = { stream: recogniser.createStream(), shown: "", samples: 0 }
  hearings.set(utterance, fresh)
  return fresh
}

const accept = ({ stream }: Hearing, samples: Float32Array): void => {
  stream.acceptWaveform({ sampleRate: 16_000, samples })
  while (recogniser.isReady(stream)) recogniser.decode(stream)
}

const obey = (message: ToListener): void => {
  const { caller, utterance } = message
  if (message._tag === "Audio") {
    const hearing = hearingOf(utterance)
    hearing.samples += message.samples.length
    accept(hearing, toFloats(message.samples))
    tell({ _tag: "Digested", caller, utterance, samples: message.samples.length })
    const text = recogniser.getResult(hearing.stream).text.trim()
    if (text !== hearing.shown && text !== "") tell({ _tag: "Partial", caller, utterance, text })
    hearing.shown = text
    return
  }
  if (message._tag === "Commit") {
    const hearing = hearingOf(utterance)
    accept(hearing, tail)
    hearing.stream.inputFinished()
    while (recogniser.isReady(hearing.stream)) recogniser.decode(hearing.stream)
    const { text, timestamps, tokens } = recogniser.getResult(hearing.stream)
    tell({
      _tag: "Final",
      caller,
      utterance,
      hypothesis: { text, timestamps, tokens },
      lengthMs: hearing.samples / 16
    })
  }
  hearings.delete(utterance)
}

process.on("message", (message: ToListener) => {
  try {
    obey(message)
  } catch {
    hearings.delete(message.utterance)
    tell({ _tag: "Failed", caller: message.caller, utterance: message.utterance })
  }
})
tell({ _tag: "Ready" })
