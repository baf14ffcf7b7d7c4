// From an engine's samples to the bytes that are sent: level, volume, sample rate, codec, all in worker threads.
// Each call waits for its answer: that is the back-pressure, and no encoder holds more than one block.
import { Context, Effect, Layer, type Scope } from "effect"
import { Bytes } from "@parley/audio/encode/Bytes"
import type { OutputFormat } from "@parley/audio/encode/OutputFormat"
import { SpeechError } from "../ports/SpeechError.ts"
import type { EncoderAnswer, EncoderJob } from "./EncoderJob.ts"
import { makeWorkerSlots } from "../workers/WorkerSlots.ts"
import type { Slot } from "../workers/WorkerSlots.ts"
import type { WorkerFault } from "../workers/WorkerFault.ts"

/** What one output sounds like and how it is coded. */
export interface EncoderOptions {
  readonly format: OutputFormat
  /** Decibels, -20 to 20; peaks are limited, never cut. */
  readonly volumeDb: number
  /** Brings speech to one loudness before the volume. */
  readonly level: boolean
}

/** One output: samples in, bytes out, in order. Fails with `Unavailable` when its thread was lost. */
export interface OutputEncoder {
  /** Bytes that became ready, possibly none. The samples are copied. */
  readonly write: (samples: Int16Array, sampleRate: number) => Effect.Effect<Uint8Array, SpeechError>
  /** What the codec held back, so that everything written can be heard; the encoder goes on. */
  readonly drain: Effect.Effect<Uint8Array, SpeechError>
  /** The end of the file. */
  readonly finish: Effect.Effect<Uint8Array, SpeechError>
  /** Length of what was written so far, silence added by `drain` included, in milliseconds. */
  readonly positionMs: () => number
}

/** Sizes and bounds of the pool. */
export interface EncoderPoolOptions {
  /** Default 2. */
  readonly threads?: number
  /** Open encoders; one more is refused as `Overloaded`. Default 128. */
  readonly encoderLimit?: number
  /** Longest one block may take, waiting for other encoders of its thread included. Default 20 s. */
  readonly blockMs?: number
  /** The thread's program; tests put in one that misbehaves. */
  readonly program?: URL
}

/** Encoders in worker threads. */
export class EncoderPool extends Context.Service<
  EncoderPool,
  {
    /** Closing the scope frees the codec. Fails with `Overloaded` when too many encoders are open. */
    readonly open: (options: EncoderOptions) => Effect.Effect<OutputEncoder, SpeechError, Scope.Scope>
  }
>()("@parley/speech/EncoderPool") {
  static readonly layer = (options: EncoderPoolOptions = {}): Layer.Layer<EncoderPool> =>
    Layer.effect(EncoderPool, make(options))
}

/** A longer write is cut, so that the encoders of a thread take turns. */
const blockMs = 200

const make = Effect.fnUntraced(function* (options: EncoderPoolOptions) {
  const slots = yield* makeWorkerSlots<EncoderJob, EncoderAnswer>({
    program: options.program ?? new URL("./encoderThread.ts", import.meta.url),
    name: "encoder",
    threads: options.threads ?? 2,
    start: "now",
    slotLimit: options.encoderLimit ?? 128,
    answerMs: options.blockMs ?? 20_000
  })
  return EncoderPool.of({
    open: Effect.fnUntraced(function* (wanted) {
      const slot = yield* Effect.mapError(slots.take, speechError)
      yield* ask(slot, { _tag: "Open", ...wanted })
      return encoderOf(slot, wanted.format.sampleRate)
    })
  })
})

const encoderOf = (slot: Slot<EncoderJob, EncoderAnswer>, sampleRate: number): OutputEncoder => {
  let positionMs = 0
  const settled = (job: EncoderJob) =>
    Effect.map(ask(slot, job), ({ bytes, samples }) => {
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
  slot: Slot<EncoderJob, EncoderAnswer>,
  job: EncoderJob,
  transfer: ReadonlyArray<ArrayBuffer> = []
): Effect.Effect<Extract<EncoderAnswer, { _tag: "Bytes" }>, SpeechError> =>
  Effect.flatMap(Effect.mapError(slot.ask(job, transfer), speechError), (answer) =>
    answer._tag === "Bytes" ? Effect.succeed(answer) : Effect.fail(failure("InvalidOutput", answer.message))
  )

const speechError = (fault: WorkerFault): SpeechError =>
  fault.reason === "Full"
    ? failure("Overloaded", "too many encoders are open")
    : failure("Unavailable", "an encoder thread was lost")

const failure = (reason: "Overloaded" | "Unavailable" | "InvalidOutput", message: string): SpeechError =>
  new SpeechError({ reason, provider: "sound", message })
