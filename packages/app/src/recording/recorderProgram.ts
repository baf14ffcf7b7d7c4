// The recorder's thread: samples in, pages of Ogg Opus appended to files. One question after another for all calls;
// whatever goes wrong with one file stays with it. Effect is not loaded here: the thread starts in a tenth of a second.
import { endOggPage, oggTail } from "@parley/audio/decode/OggTail"
import type { AudioEncoder } from "@parley/audio/encode/AudioEncoder"
import { makeOggOpusEncoder } from "@parley/audio/encode/OggOpusEncoder"
import type { RecordingErrorCode } from "@parley/contract/Recording"
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs"
import { parentPort } from "node:worker_threads"
import type { RecorderAnswer, RecorderQuestion, RecorderRate } from "./RecorderMessage.ts"

const bitsPerSecond = 24_000
/** Half a second, which is the most that dies with the process, beside what its batches hold. */
const packetsPerPage = 25
/** Cheapest that is not heard on speech: a fifth of the cost of the highest. */
const complexity = 1

class Track {
  readonly #file: number
  readonly #rate: RecorderRate
  readonly #encoder: AudioEncoder
  #samples = 0

  constructor(file: number, rate: RecorderRate, encoder: AudioEncoder) {
    this.#file = file
    this.#rate = rate
    this.#encoder = encoder
  }

  write(silence: number, samples: Int16Array): void {
    for (let left = silence; left > 0; left -= this.#rate) {
      this.#encode(new Int16Array(Math.min(left, this.#rate)))
    }
    this.#encode(samples)
  }

  finish(): number {
    this.#append(this.#encoder.finish())
    fsyncSync(this.#file)
    return Math.round((this.#samples * 1000) / this.#rate)
  }

  close(): void {
    this.#encoder.close()
    closeSync(this.#file)
  }

  #encode(samples: Int16Array): void {
    this.#samples += samples.length
    this.#append(this.#encoder.encode(samples))
  }

  #append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at)
  }
}

const tracks = new Map<number, Track>()
const port = parentPort
if (port === null) throw new Error("the recorder runs in a worker thread")
const answer = (message: RecorderAnswer): void => port.postMessage(message)

const open = async (track: number, path: string, rate: RecorderRate): Promise<void> => {
  const encoder = await makeOggOpusEncoder(
    { codec: "opus", sampleRate: 48_000, bitsPerSecond },
    { inputRate: rate, packetsPerPage, complexity }
  )
  try {
    tracks.set(track, new Track(openSync(path, "wx", 0o600), rate, encoder))
  } catch (error) {
    encoder.close()
    throw error
  }
}

const repair = (path: string): { readonly durationMs: number; readonly found: boolean } => {
  const file = openExisting(path)
  if (file === undefined) return { durationMs: 0, found: false }
  try {
    const bytes = readFileSync(file)
    const tail = oggTail(bytes)
    if (tail === undefined) return { durationMs: 0, found: true }
    ftruncateSync(file, tail.length)
    const last = bytes.subarray(tail.lastPageAt, tail.length)
    endOggPage(last)
    for (let at = 0; at < last.length;) at += writeSync(file, last, at, last.length - at, tail.lastPageAt + at)
    fsyncSync(file)
    return { durationMs: tail.durationMs, found: true }
  } finally {
    closeSync(file)
  }
}

const openExisting = (path: string): number | undefined => {
  try {
    return openSync(path, "r+")
  } catch {
    return undefined
  }
}

const perform = async (question: RecorderQuestion): Promise<void> => {
  if (question._tag === "Repair") {
    const { call, path } = question
    try {
      return answer({ _tag: "Repaired", call, ...repair(path) })
    } catch {
      return answer({ _tag: "Repaired", call, durationMs: 0, found: true })
    }
  }
  const { track } = question
  try {
    if (question._tag === "Open") return await open(track, question.path, question.rate)
    const known = tracks.get(track)
    // Failed before.
    if (known === undefined) return
    if (question._tag === "Write") {
      known.write(question.silence, question.samples)
      return answer({ _tag: "Written", track })
    }
    const durationMs = known.finish()
    known.close()
    tracks.delete(track)
    answer({ _tag: "Finished", track, durationMs })
  } catch (error) {
    tracks.get(track)?.close()
    tracks.delete(track)
    answer({ _tag: "Failed", track, errorCode: codeOf(error) })
  }
}

/** What the operating system refused has a code. */
const codeOf = (error: unknown): RecordingErrorCode =>
  error instanceof Error && "syscall" in error ? "storage_failed" : "encoder_failed"

let last: Promise<void> = Promise.resolve()
port.on("message", (question: RecorderQuestion) => {
  last = last.then(() => perform(question))
})
