// The one thread that encodes and writes all recordings, seen from the media thread: plain calls, nothing waits. It
// starts with the first recording. A track that is too far behind is given up, and a thread that died takes its tracks
// with it; the next track gets a new one.
import type { RecordingErrorCode } from "@parley/contract/Recording"
import type { TrackSink } from "@parley/engine/leg/RecordedLeg"
import { Worker } from "node:worker_threads"
import type { RecorderAnswer, RecorderQuestion, RecorderRate } from "./RecorderMessage.ts"

/** Batches of a track on their way to the disk: 10 s of sound. */
const mostWaiting = 20

export type TrackEnd = { readonly durationMs: number } | { readonly errorCode: RecordingErrorCode }

/** One track, written by the thread. */
export interface TrackRecorder extends TrackSink {
  /** Ends the file. Asked once. */
  readonly finish: () => Promise<TrackEnd>
}

interface OpenTrack {
  waiting: number
  end: TrackEnd | undefined
  resolve: (end: TrackEnd) => void
}

/** What is in a file whose writer failed or died. */
export interface Repaired {
  readonly durationMs: number
  /** Whether the file is there. */
  readonly found: boolean
}

/** Encodes and writes the tracks of all calls. Its methods return at once. */
export class RecorderThread {
  readonly #program: URL
  #worker: Worker | undefined
  readonly #tracks = new Map<number, OpenTrack>()
  readonly #repairs = new Map<number, (repaired: Repaired | undefined) => void>()
  #numbers = 0

  /** `program`: tests put in one that misbehaves. */
  constructor(program = new URL("./recorderProgram.ts", import.meta.url)) {
    this.#program = program
  }

  /** Makes the file, Ogg Opus, for mono samples at `rate` Hz. */
  open(path: string, rate: RecorderRate): TrackRecorder {
    const number = this.#numbers++
    const track: OpenTrack = { waiting: 0, end: undefined, resolve: () => undefined }
    this.#tracks.set(number, track)
    this.#ask({ _tag: "Open", track: number, path, rate })
    return {
      write: (silence, samples) => {
        if (track.end !== undefined) return
        if (track.waiting >= mostWaiting) {
          this.#ask({ _tag: "Finish", track: number })
          return this.#settle(number, { errorCode: "recorder_overloaded" })
        }
        track.waiting++
        const copy = samples.slice()
        this.#ask({ _tag: "Write", track: number, silence, samples: copy }, [copy.buffer])
      },
      finish: () =>
        new Promise((resolve) => {
          if (track.end !== undefined) return resolve(track.end)
          track.resolve = resolve
          this.#ask({ _tag: "Finish", track: number })
        })
    }
  }

  /** Undefined when the thread died over it. */
  repair(path: string): Promise<Repaired | undefined> {
    return new Promise((resolve) => {
      const call = this.#numbers++
      this.#repairs.set(call, resolve)
      this.#ask({ _tag: "Repair", call, path })
    })
  }

  /** Ends the thread; open tracks fail as `recorder_lost`. */
  stop(): Promise<unknown> {
    const worker = this.#worker
    this.#died(worker)
    return worker?.terminate() ?? Promise.resolve()
  }

  #ask(question: RecorderQuestion, transfer: ReadonlyArray<ArrayBuffer> = []): void {
    this.#worker ??= this.#start()
    this.#worker.postMessage(question, transfer)
  }

  #start(): Worker {
    const worker = new Worker(this.#program, { execArgv: [], name: "recorder" })
    worker.on("message", (answer: RecorderAnswer) => this.#answered(answer))
    worker.on("error", () => this.#died(worker))
    worker.on("exit", () => this.#died(worker))
    return worker
  }

  #answered(answer: RecorderAnswer): void {
    switch (answer._tag) {
      case "Written": {
        const track = this.#tracks.get(answer.track)
        if (track !== undefined) track.waiting--
        return
      }
      case "Finished":
        return this.#settle(answer.track, { durationMs: answer.durationMs })
      case "Failed":
        return this.#settle(answer.track, { errorCode: answer.errorCode })
      case "Repaired": {
        this.#repairs.get(answer.call)?.(answer)
        this.#repairs.delete(answer.call)
      }
    }
  }

  #settle(number: number, end: TrackEnd): void {
    const track = this.#tracks.get(number)
    this.#tracks.delete(number)
    if (track === undefined) return
    track.end = end
    track.resolve(end)
  }

  #died(worker: Worker | undefined): void {
    if (worker === undefined || this.#worker !== worker) return
    this.#worker = undefined
    for (const number of this.#tracks.keys()) this.#settle(number, { errorCode: "recorder_lost" })
    for (const resolve of this.#repairs.values()) resolve(undefined)
    this.#repairs.clear()
  }
}
