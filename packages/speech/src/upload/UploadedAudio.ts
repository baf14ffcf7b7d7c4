// Recordings that people send, as samples: any container that is read here, decoded in worker threads and pulled
// block by block, so that an hour of sound is never in memory. Untrusted bytes end in an `AudioFault`, nothing else.
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { Context, Effect, Layer, Option, Semaphore, Stream } from "effect"
import type { Scope } from "effect"
import { listeningRate } from "@parley/audio/voice/VoiceListener"
import type { VoiceReport } from "@parley/audio/voice/VoiceListener"
import { pcmBytes, wavHeader, wavHeaderBytes } from "@parley/audio/Wav"
import { makeWorkerSlots } from "../workers/WorkerSlots.ts"
import type { Slot } from "../workers/WorkerSlots.ts"
import { AudioFault } from "./AudioFault.ts"
import type { DecodeAnswer, DecodeQuestion } from "./DecodeJob.ts"
import { openFfmpeg } from "./Ffmpeg.ts"

export { AudioFault } from "./AudioFault.ts"
export type { AudioFaultReason } from "./AudioFault.ts"

/** `voicedMs`: of the duration, voiced. */
export type VoiceExamination = VoiceReport

/** Sizes and bounds of the decoding threads. */
export interface UploadedAudioOptions {
  /** Default 2. */
  readonly threads?: number
  /** Uploads decoded at the same time; more wait for their turn. Default 16. */
  readonly atOnce?: number
  /** Longest sound. Default 61 minutes. */
  readonly mostMs?: number
  /** Longest one block may take. Default 20 s. */
  readonly blockMs?: number
  /** For AAC. Default "ffmpeg", looked for on the PATH when it is needed. */
  readonly ffmpeg?: string
  /** The thread's program; tests put in one that misbehaves. */
  readonly program?: URL
}

/** Recordings of any known container as samples. */
export class UploadedAudio extends Context.Service<
  UploadedAudio,
  {
    /** Mono blocks of at most a second at `sampleRate`. Pulling slowly decodes slowly; a stop ends the work at once. */
    readonly pcm: (file: string, sampleRate: number) => Stream.Stream<Int16Array, AudioFault>
    /** Decodes into a mono 16-bit WAV file at 24 kHz; gives its length. */
    readonly toWav: (file: string, wav: string) => Effect.Effect<{ readonly durationMs: number }, AudioFault>
    /** Is this good enough to learn a voice from? Fails with `TooShort` (1 s), `Silent`, `Clipped` or `Unvoiced`. */
    readonly examine: (file: string) => Effect.Effect<VoiceExamination, AudioFault>
  }
>()("@parley/speech/UploadedAudio") {
  static readonly layer = (options: UploadedAudioOptions = {}): Layer.Layer<UploadedAudio> =>
    Layer.effect(UploadedAudio, make(options))
}

/** Rate of stored recordings. */
const storedRate = 24000

const make = Effect.fnUntraced(function* (options: UploadedAudioOptions) {
  const mostMs = options.mostMs ?? 61 * 60_000
  const blockMs = options.blockMs ?? 20_000
  const turns = yield* Semaphore.make(options.atOnce ?? 16)
  const pool = yield* makeWorkerSlots<DecodeQuestion, DecodeAnswer>({
    program: options.program ?? new URL("./uploadThread.ts", import.meta.url),
    name: "upload",
    threads: options.threads ?? 2,
    start: "first use",
    slotLimit: Number.POSITIVE_INFINITY,
    answerMs: blockMs
  })
  const take = Effect.mapError(pool.take, lost)

  /** Gives one block after another. */
  const open = Effect.fnUntraced(function* (file: string, sampleRate: number) {
    yield* Effect.acquireRelease(turns.take(1), () => turns.release(1), { interruptible: true })
    const slot = yield* take
    const { container } = yield* ask(slot, { _tag: "Open", file, sampleRate }, "Opened")
    if (container !== "mp4" && container !== "aac") return ask(slot, { _tag: "Next" }, "Block")
    const command = options.ffmpeg ?? "ffmpeg"
    return yield* openFfmpeg({ command, file, container, sampleRate, mostMs, stallMs: blockMs })
  })

  const pcm = (file: string, sampleRate: number): Stream.Stream<Int16Array, AudioFault> =>
    Stream.unwrap(Effect.map(open(file, sampleRate), (next) => bounded(next, (mostMs * sampleRate) / 1000)))

  return UploadedAudio.of({
    pcm,
    toWav: (file, wav) =>
      Effect.scoped(
        Effect.gen(function* () {
          const target = yield* wavFile(wav)
          yield* Stream.runForEach(pcm(file, storedRate), (samples) => Effect.sync(() => target.add(samples)))
          return { durationMs: target.end() }
        })
      ),
    examine: (file) =>
      Effect.scoped(
        Effect.gen(function* () {
          const slot = yield* take
          yield* Stream.runForEach(pcm(file, listeningRate), (samples) =>
            ask(slot, { _tag: "Analyse", samples }, "Analysed")
          )
          const { report } = yield* ask(slot, { _tag: "Report" }, "Reported")
          return yield* validated(report)
        })
      )
  })
})

interface Block {
  readonly samples: Int16Array
  readonly isLast: boolean
}

const bounded = (next: Effect.Effect<Block, AudioFault>, mostSamples: number): Stream.Stream<Int16Array, AudioFault> =>
  Stream.paginate(0, (given) =>
    Effect.flatMap(next, ({ isLast, samples }) => {
      const total = given + samples.length
      if (total > mostSamples) return Effect.fail(fault("TooLong", "the recording is too long"))
      if (isLast && total === 0) return Effect.fail(fault("Damaged", "there is no sound in the recording"))
      const blocks = samples.length === 0 ? [] : [samples]
      return Effect.succeed([blocks, isLast ? Option.none<number>() : Option.some(total)] as const)
    })
  )

/** Written as it comes; the header is made right at the end. Without an end there is no file. */
const wavFile = (
  path: string
): Effect.Effect<{ readonly add: (samples: Int16Array) => void; readonly end: () => number }, never, Scope.Scope> => {
  let written = 0
  let isWhole = false
  return Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => openSync(path, "w")),
      (fd) =>
        Effect.sync(() => {
          closeSync(fd)
          if (!isWhole) rmSync(path, { force: true })
        })
    ),
    (fd) => ({
      add: (samples) => {
        const bytes = pcmBytes(samples)
        writeSync(fd, bytes, 0, bytes.length, wavHeaderBytes + written)
        written += bytes.length
      },
      end: () => {
        writeSync(fd, wavHeader(storedRate, written), 0, wavHeaderBytes, 0)
        isWhole = true
        return (1000 * written) / 2 / storedRate
      }
    })
  )
}

/** Good enough to learn a voice from? */
const validated = (report: VoiceReport): Effect.Effect<VoiceReport, AudioFault> => {
  if (report.durationMs < 1000) return Effect.fail(fault("TooShort", "the recording is shorter than a second"))
  if (report.peakDbfs < -50) return Effect.fail(fault("Silent", "the recording is silent"))
  if (report.clipped > 0.01)
    return Effect.fail(fault("Clipped", "the recording is cut at full scale: record it softer"))
  if (report.voicedMs < Math.max(300, 0.05 * report.durationMs)) {
    return Effect.fail(fault("Unvoiced", "no voice is heard in the recording"))
  }
  return Effect.succeed(report)
}

const ask = <Tag extends DecodeAnswer["_tag"]>(
  slot: Slot<DecodeQuestion, DecodeAnswer>,
  question: DecodeQuestion,
  expected: Tag
): Effect.Effect<Extract<DecodeAnswer, { _tag: Tag }>, AudioFault> =>
  Effect.flatMap(Effect.mapError(slot.ask(question), lost), (answer) => {
    if (isTagged(answer, expected)) return Effect.succeed(answer)
    return Effect.fail(answer._tag === "Fault" ? fault(answer.reason, answer.message) : damaged)
  })

const isTagged = <Tag extends DecodeAnswer["_tag"]>(
  answer: DecodeAnswer,
  tag: Tag
): answer is Extract<DecodeAnswer, { _tag: Tag }> => answer._tag === tag

const fault = (reason: AudioFault["reason"], message: string): AudioFault => new AudioFault({ reason, message })

const damaged = fault("Damaged", "the recording cannot be decoded")

/** A thread dies of its file, as far as anyone can tell. */
const lost = (): AudioFault => damaged
