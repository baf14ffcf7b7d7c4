// The worker thread of Flite: takes one job at a time, answers it, and makes the next instance of the
// program while it waits. Effect is not loaded here: a thread starts in a tenth of a second.
import { parentPort } from "node:worker_threads"
import { parseWav } from "@parley/audio/Wav"
import { resample } from "@parley/audio/Resampler"
import { colourFilter, FirFilter } from "@parley/audio/voice/ColourFilter"
import { workerReady } from "./FliteJob.ts"
import type { FliteAnswer, FliteJob, FliteVoice } from "./FliteJob.ts"
import { loadFlite, outputName } from "./FliteProgram.ts"
import { parsePhones, pause } from "./WordAlignment.ts"
import type { TimedPhone } from "./WordAlignment.ts"

const port = parentPort
if (port === null) throw new Error("fliteWorker runs as a worker thread")

/** Cheap diphone voice: only its phone list is used. */
const phoneVoice = "kal16"
/** Kept before the voice: enough for the onset's softest samples. */
const leadMs = 5
/** Kept at most after the last phone: its decay and a short breath between phrases. */
const tailMs = 80
/** Quieter than this is silence (-54 dBFS); some voices hiss louder than that in their pauses. */
const audible = 64

type Spoken = Extract<FliteAnswer, { readonly _tag: "Spoken" }>

const flite = loadFlite()

const answer = (job: FliteJob): FliteAnswer => {
  try {
    return job._tag === "Speak" ? speak(job.text, job.voice) : pronounce(job.tokens)
  } catch (error) {
    return { _tag: "Failed", message: error instanceof Error ? error.name : "unknown failure" }
  }
}

const speak = (text: string, { colour, pitch, stretch, tractPercent = 100, voice }: FliteVoice): FliteAnswer => {
  const run = flite.run([
    "-voice",
    voice,
    "-psdur",
    "--setf",
    `duration_stretch=${stretch.toFixed(4)}`,
    ...(pitch === undefined ? [] : features({ mean: pitch.meanHz, stddev: pitch.spreadHz })),
    "-t",
    ` ${text} `,
    "-o",
    outputName
  ])
  const { sampleRate, samples } = parseWav(run.file)
  const spoken = trim(samples, sampleRate, parsePhones(run.stdout))
  return coloured(scaled(spoken, tractPercent), colour)
}

const features = (target: { readonly mean: number; readonly stddev: number }): ReadonlyArray<string> =>
  Object.entries(target).flatMap(([name, hz]) => ["--setf", `int_f0_target_${name}=${hz.toFixed(1)}`])

/** Played faster by the scale of the vocal tract, without saying so. */
const scaled = (spoken: Spoken, tractPercent: number): Spoken => {
  if (tractPercent === 100) return spoken
  return {
    ...spoken,
    samples: resample(spoken.samples, tractPercent, 100).slice(),
    phones: spoken.phones.map(({ endMs, phone }) => ({ phone, endMs: (endMs * 100) / tractPercent }))
  }
}

const coloured = (spoken: Spoken, colour: ReadonlyArray<number> | undefined): Spoken => {
  if (colour === undefined) return spoken
  const filter = new FirFilter(colourFilter(colour, spoken.sampleRate))
  const samples = new Int16Array(spoken.samples.length)
  const body = filter.process(spoken.samples)
  samples.set(body)
  samples.set(filter.flush(), body.length)
  return { ...spoken, samples }
}

const trim = (samples: Int16Array, sampleRate: number, phones: ReadonlyArray<TimedPhone>): Spoken => {
  const first = samples.findIndex(loud)
  if (first === -1) return { _tag: "Spoken", samples: new Int16Array(0), sampleRate, phones: [] }
  const perMs = sampleRate / 1000
  const opening = phones[0]?.phone === pause ? phones[0].endMs - 2 * leadMs : 0
  const closing = phones.findLast((item) => item.phone !== pause)?.endMs ?? samples.length / perMs
  const from = Math.floor(Math.max(0, opening * perMs, first - leadMs * perMs))
  const to = Math.ceil(Math.min(samples.length, (closing + tailMs) * perMs))
  return {
    _tag: "Spoken",
    samples: samples.slice(from, to),
    sampleRate,
    phones: phones.map((item) => ({ phone: item.phone, endMs: Math.max(0, item.endMs - from / perMs) }))
  }
}

const loud = (sample: number): boolean => sample > audible || sample < -audible

const pronounce = (tokens: ReadonlyArray<string>): FliteAnswer => ({ _tag: "Pronounced", phones: phonesOf(tokens) })

/**
 * A comma makes the engine pause, so the pauses of a list mark its words. A token that pauses inside (a
 * telephone number) breaks the count: then each half is tried alone.
 */
const phonesOf = (tokens: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  if (tokens.length === 0) return []
  const run = flite.run([
    "-voice",
    phoneVoice,
    "-psdur",
    "-t",
    ` ${tokens.map((token) => `${token},`).join(" ")} `,
    "-o",
    "none"
  ])
  const groups: Array<Array<string>> = []
  let open = false
  for (const { phone } of parsePhones(run.stdout)) {
    if (phone === pause) open = false
    else if (open) groups.at(-1)?.push(phone)
    else {
      groups.push([phone])
      open = true
    }
  }
  if (groups.length === tokens.length) return groups
  if (tokens.length === 1) return [groups.flat()]
  const half = tokens.length >> 1
  return [...phonesOf(tokens.slice(0, half)), ...phonesOf(tokens.slice(half))]
}

port.on("message", (job: FliteJob) => {
  const reply = answer(job)
  port.postMessage(reply, reply._tag === "Spoken" ? [reply.samples.buffer] : [])
  flite.prepare()
})

for (let i = 0; i < 2; i++) speak("Good morning, how may I help you?", { voice: "slt", stretch: 1 })
flite.prepare()
port.postMessage(workerReady)
