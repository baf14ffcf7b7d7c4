// From an engine's samples to the bytes a listener gets: level, volume, sample rate, codec, all in worker threads.
// Each call waits for its answer: that is the back-pressure, and no line holds more than one block.
import { Context, Effect, Layer, type Scope } from "effect"
import { Bytes } from "@parley/audio/encode/Bytes"
import type { OutputFormat } from "@parley/audio/encode/OutputFormat"
import { SpeechError } from "../ports/SpeechError.ts"
import type { LineAnswer, LineQuestion } from "./LineJob.ts"
import { makeWorkerSlots } from "../workers/WorkerSlots.ts"
import type { Slot } from "../workers/WorkerSlots.ts"
import type { WorkerFault } from "../workers/WorkerFault.ts"

export interface SoundLineOptions {
  readonly format: OutputFormat
  /** Decibels, -20 to 20; peaks are limited, never cut. */
  readonly volumeDb: number
  /** Brings speech to one loudness before the volume. */
  readonly level: boolean
}

export interface SoundLine {
  /** Bytes that became ready, possibly none. The samples are copied. */
  readonly write: (samples: Int16Array, sampleRate: number) => Effect.Effect<Uint8Array, SpeechError>
  /** What the codec held back, so that everything written can be heard; the line goes on. */
  readonly drain: Effect.Effect<Uint8Array, SpeechError>
  /** The end of the file. */
  readonly finish: Effect.Effect<Uint8Array, SpeechError>
  /** Length of what was written so far, silence added by `drain` included, in milliseconds. */
  readonly positionMs: () => number
}

export interface SoundLinesOptions {
  /** Default 2. */
  readonly threads?: number
  /** Open lines; one more is refused as `Overloaded`. Default 128. */
  readonly lineLimit?: number
  /** Longest one block may take, waiting for other lines of its thread included. Default 20 s. */
  readonly blockMs?: number
  /** The thread's program; tests put in one that misbehaves. */
  readonly program?: URL
}

export class SoundLines extends Context.Service<
  SoundLines,
  {
    /** Closing the scope frees the codec. Fails with `Overloaded` when too many lines are open. */
    readonly open: (options: SoundLineOptions) => Effect.Effect<SoundLine, SpeechError, Scope.Scope>
  }
>()("@parley/speech/SoundLines") {
  static readonly layer = (options: SoundLinesOptions = {}): Layer.Layer<SoundLines> =>
    Layer.effect(SoundLines, make(options))
}

/** A longer write is cut, so that the lines of a thread take turns. */
const blockMs = 200

const make = Effect.fnUntraced(function* (options: SoundLinesOptions) {
  const slots = yield* makeWorkerSlots<LineQuestion, LineAnswer>({
    program: options.program ?? new URL("./soundThread.ts", import.meta.url),
    name: "sound",
    threads: options.threads ?? 2,
    start: "now",
    slotLimit: options.lineLimit ?? 128,
    answerMs: options.blockMs ?? 20_000
  })
  return SoundLines.of({
    open: Effect.fnUntraced(function* (line) {
      const slot = yield* Effect.mapError(slots.take, told)
      yield* ask(slot, { _tag: "Open", ...line })
      return soundLine(slot, line.format.sampleRate)
    })
  })
})

const soundLine = (slot: Slot<LineQuestion, LineAnswer>, sampleRate: number): SoundLine => {
  let positionMs = 0
  const settled = (question: LineQuestion) =>
    Effect.map(ask(slot, question), ({ bytes, samples }) => {
      positionMs = (1000 * samples) / sampleRate
      return bytes
    })
  return {
    write: Effect.fnUntraced(function* (samples, fromRate) {
      const blockSamples = Math.max(1, Math.round((fromRate * blockMs) / 1000))
      const out = new Bytes()
      for (let at = 0; at < samples.length; at += blockSamples) {
        // Its length is gone once it was handed over.
        const block = samples.slice(at, at + blockSamples)
        const lengthMs = (1000 * block.length) / fromRate
        const { bytes } = yield* ask(slot, { _tag: "Write", samples: block, sampleRate: fromRate }, [block.buffer])
        positionMs += lengthMs
        out.add(bytes)
      }
      return out.take()
    }),
    drain: settled({ _tag: "Drain" }),
    finish: settled({ _tag: "Finish" }),
    positionMs: () => positionMs
  }
}

const ask = (
  slot: Slot<LineQuestion, LineAnswer>,
  question: LineQuestion,
  transfer: ReadonlyArray<ArrayBuffer> = []
): Effect.Effect<Extract<LineAnswer, { _tag: "Bytes" }>, SpeechError> =>
  Effect.flatMap(Effect.mapError(slot.ask(question, transfer), told), (answer) =>
    answer._tag === "Bytes" ? Effect.succeed(answer) : Effect.fail(failure("InvalidOutput", answer.message))
  )

const told = (fault: WorkerFault): SpeechError =>
  fault.reason === "Full"
    ? failure("Overloaded", "too many sound lines are open")
    : failure("Unavailable", "an encoder thread was lost")

const failure = (reason: "Overloaded" | "Unavailable" | "InvalidOutput", message: string): SpeechError =>
  new SpeechError({ reason, provider: "sound", message })
