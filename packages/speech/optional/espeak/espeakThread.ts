// SPDX-License-Identifier: GPL-3.0-only
// The thread: espeak-ng holds it while it speaks, hands over about 100 ms at a time and is asked each time whether to
// go on.
import { parentPort, workerData } from "node:worker_threads"
import type { EspeakJob, EspeakWord, FromEspeak } from "./EspeakMessage.ts"
import { stopPlaces } from "./EspeakMessage.ts"

interface SpeechEvent {
  readonly type: string
  /** From 1. */
  readonly text_position: number
  /** Milliseconds. */
  readonly audio_position: number
}

interface Espeak {
  readonly list_voices: () => ReadonlyArray<{
    readonly name: string
    readonly languages: ReadonlyArray<{ readonly name: string }>
  }>
  readonly set_voice: (name: string, language: string, variant: number) => number
  readonly set_rate: (rate: number) => void
  readonly get_samplerate: () => number
  /** 1 from the callback ends the work. */
  readonly synthesize: (
    text: string,
    each: (samples: Int16Array | null, events: ReadonlyArray<SpeechEvent>) => 0 | 1
  ) => void
}

const stops = workerData as Int32Array
const tell = (message: FromEspeak): void => parentPort?.postMessage(message)

const library = "@echogarden/espeak-ng-emscripten"
const { default: load } = (await import(library)) as {
  readonly default: () => Promise<{ readonly eSpeakNGWorker: new () => Promise<Espeak> }>
}
const espeak = await new (await load()).eSpeakNGWorker()

const speak = ({ id, language, rate, text }: EspeakJob): void => {
  const words: Array<EspeakWord> = []
  const stopped = () => Atomics.load(stops, id % stopPlaces) === 1
  if (stopped()) return tell({ _tag: "Done", id, words })
  espeak.set_voice(language, "", 0)
  espeak.set_rate(rate)
  const sampleRate = espeak.get_samplerate()
  espeak.synthesize(text, (samples, events) => {
    for (const event of events) {
      if (event.type === "word") words.push({ at: event.text_position - 1, startMs: event.audio_position })
    }
    if (samples !== null && samples.length > 0) tell({ _tag: "Sound", id, samples: samples.slice(), sampleRate })
    return stopped() ? 1 : 0
  })
  tell({ _tag: "Done", id, words })
}

parentPort?.on("message", (job: EspeakJob) => {
  try {
    speak(job)
  } catch {
    tell({ _tag: "Failed", id: job.id })
  }
})
tell({
  _tag: "Ready",
  languages: espeak.list_voices().flatMap(({ languages, name }) => {
    const language = languages[0]?.name
    return language === undefined ? [] : [{ language, name }]
  })
})
