// The child process of an engine that does one job after the other: speaks phrases, or transcribes whole utterances.
import { parseWav } from "@parley/audio/Wav"
import { dropPrivileges, liveWithParent } from "../workers/childProcess.ts"
import type { EngineTask, FromEngine, SpeechOrder, ToEngine } from "./SherpaMessage.ts"
import { loadRuntime } from "./sherpaRuntime.ts"
import type { GenerationConfig } from "./sherpaRuntime.ts"
import { fromFloats, toFloats } from "./samples.ts"

type Work = (message: ToEngine) => Promise<void>

/** Shorter sound has ended models that look at a stretch at a time. */
const shortest = 16_000

const tell = (message: FromEngine): void => {
  process.send?.(message)
}

const cancelled = new Set<number>()

const synthesis = async ({ model, threads }: EngineTask & { readonly _tag: "Synthesise" }): Promise<Work> => {
  // The engine's own shortening of pauses is off: pauses are the caller's affair.
  const tts = await loadRuntime().OfflineTts.createAsync({
    model: { ...model, numThreads: threads, debug: 0 },
    maxNumSentences: 1,
    silenceScale: 1
  })
  return async (message) => {
    if (message._tag !== "Speak") return
    const { id, order } = message
    let given = 0
    const give = (samples: Float32Array): boolean => {
      if (cancelled.has(id)) return false
      given += samples.length
      if (samples.length > 0) tell({ _tag: "Sound", id, samples: fromFloats(samples), sampleRate: tts.sampleRate })
      return true
    }
    const sound = await tts.generateAsync({
      text: order.text,
      generationConfig: generationOf(order),
      enableExternalBuffer: false,
      onProgress: ({ samples }) => give(samples)
    })
    if (given === 0) give(sound.samples)
  }
}

const generationOf = ({ reference, speaker, speed, steps }: SpeechOrder): GenerationConfig => {
  const plain = { speed, silenceScale: 1, ...(steps === undefined ? {} : { numSteps: steps }) }
  if (reference === undefined) return { ...plain, sid: speaker }
  const { sampleRate, samples } = parseWav(reference.wav)
  return {
    ...plain,
    referenceAudio: toFloats(samples),
    referenceSampleRate: sampleRate,
    referenceText: reference.text
  }
}

const recognition = async ({ model, threads }: EngineTask & { readonly _tag: "Recognise" }): Promise<Work> => {
  const recogniser = await loadRuntime().OfflineRecognizer.createAsync({
    featConfig: { sampleRate: 16_000, featureDim: 80 },
    modelConfig: { ...model, numThreads: threads, debug: 0 }
  })
  return async (message) => {
    if (message._tag !== "Transcribe") return
    const stream = recogniser.createStream()
    const samples = new Float32Array(Math.max(shortest, message.samples.length))
    samples.set(toFloats(message.samples))
    stream.acceptWaveform({ sampleRate: 16_000, samples })
    const { durations, lang, text, timestamps, tokens } = await recogniser.decodeAsync(stream)
    const hypothesis = { text, timestamps, tokens, ...(durations && { durations }), ...(lang ? { lang } : {}) }
    tell({ _tag: "Transcribed", id: message.id, hypothesis })
  }
}

liveWithParent()
const task = JSON.parse(process.argv[2] ?? "{}") as EngineTask
const work = await (task._tag === "Synthesise" ? synthesis(task) : recognition(task))
dropPrivileges()

process.on("message", (message: ToEngine) => {
  if (message._tag === "Cancel") {
    cancelled.add(message.id)
    return
  }
  const { id } = message
  void work(message)
    .then(
      () => tell({ _tag: "Done", id }),
      () => tell({ _tag: "Failed", id })
    )
    .finally(() => cancelled.delete(id))
})
tell({ _tag: "Ready" })
