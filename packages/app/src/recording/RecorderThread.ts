// The one thread that encodes and writes all recordings, seen from the media thread: plain calls, nothing waits. It
// starts with the first recording and is supervised as all threads are. A track that is too far behind is given up, and
// a thread that died takes its tracks with it; the next track gets a new one.
import type { RecordingErrorCode } from "@parley/contract/Recording"
import type { TrackSink } from "@parley/engine/leg/RecordedLeg"
import type { RunningWorker } from "@parley/speech/workers/RunningWorker"
import { SupervisedWorker } from "@parley/speech/workers/SupervisedWorker"
import type { RecorderAnswer, RecorderQuestion, RecorderRate } from "./RecorderMessage.ts"

/** Batches of a track on their way to the disk: 10 s of sound. */
const mostWaiting = 20

/** The length on the disk, or why the file is not whole. */
export type TrackEnd = { readonly durationMs: number } | { readonly errorCode: RecordingErrorCode }

/** One side of a call on its way to a file. `write` never waits. */
export interface TrackRecorder extends TrackSink {
  /** Ends the file. Asked once. */
  readonly finish: () => Promise<TrackEnd>
}

interface OpenTrack {
  waiting: number
  end: TrackEnd | undefined
  resolve: (end: TrackEnd) => void
}

/** A file after its repair. */
export interface Repaired {
  readonly durationMs: number
  /** Whether the file is there. */
  readonly found: boolean
}

/** All recordings of this process. */
export class RecorderThread {
  readonly #worker: SupervisedWorker<RecorderQuestion, RecorderAnswer>
  #running: RunningWorker<RecorderQuestion, RecorderAnswer> | undefined
  readonly #tracks = new Map<number, OpenTrack>()
  readonly #repairs = new Map<number, (repaired: Repaired | undefined) => void>()
  #numbers = 0

  /** `program`: tests put in one that misbehaves. */
  constructor(program = new URL("./recorderProgram.ts", import.meta.url)) {
    this.#worker = new SupervisedWorker({
      program: { kind: "thread", file: program, name: "recorder" },
      start: "first use"
    })
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

  stop(): Promise<void> {
    return this.#worker.stop()
  }

  #ask(question: RecorderQuestion, transfer?: ReadonlyArray<ArrayBuffer>): void {
    const { running } = this.#worker
    // The next start is put off, because the thread only dies: as if it had died again.
    if (running === undefined) return this.#lost()
    if (running !== this.#running) this.#follow(running)
    running.post(question, transfer)
  }

  #follow(running: RunningWorker<RecorderQuestion, RecorderAnswer>): void {
    this.#running = running
    running.listen({
      onMessage: (answer) => {
        running.served()
        this.#answered(answer)
      },
      onExit: () => this.#lost()
    })
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

  #lost(): void {
    for (const number of this.#tracks.keys()) this.#settle(number, { errorCode: "recorder_lost" })
    for (const resolve of this.#repairs.values()) resolve(undefined)
    this.#repairs.clear()
  }
}
