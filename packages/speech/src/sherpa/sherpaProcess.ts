// A sherpa-onnx engine in a process of its own: how it is started, and how its jobs look to the pool.
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"
import type { SupervisionOptions } from "../workers/SupervisedWorker.ts"
import { makeWorkerPool } from "../workers/WorkerPool.ts"
import type { JobProtocol, WorkerPool } from "../workers/WorkerPool.ts"
import type { Effect, Scope } from "effect"
import type { EngineJob, EngineTask, FromEngine, FromRecogniser, ToEngine } from "./SherpaMessage.ts"

/** As it is named in errors and in the settings. */
export const provider = "sherpa"

/** Sizes and bounds of one engine process. */
export interface SherpaOptions {
  /** Of the one engine. Default 2. */
  readonly threads?: number
  /** Longest time to load the model. Default 60 s. */
  readonly startMs?: number
  /** Longest wait for the engine's next word. Default 20 s. */
  readonly answerMs?: number
  /** Jobs in line before further ones are refused. Default 16. */
  readonly mostWaiting?: number
  /** The child's file; tests put in one that misbehaves. */
  readonly file?: URL
}

/** Jobs of one engine process, one after the other. */
export type EngineJobs = WorkerPool<EngineJob, FromEngine>

/** The process of a task, kept up; pauses between starts that fail grow from 0.5 to 30 s. */
export const engineProcess = (file: URL, task: EngineTask, startMs: number | undefined): SupervisionOptions => ({
  program: { kind: "process", file, name: provider, argument: task },
  isReady: (message) => (message as FromEngine | FromRecogniser)._tag === "Ready",
  startMs: startMs ?? 60_000,
  firstPauseMs: 500,
  longestPauseMs: 30_000
})

/** An engine that does one job after the other. Its queue fails at once while the process cannot be started. */
export const makeEngineJobs = (
  task: EngineTask,
  options: SherpaOptions
): Effect.Effect<EngineJobs, never, Scope.Scope> =>
  makeWorkerPool<EngineJob, ToEngine, FromEngine>({
    ...engineProcess(options.file ?? new URL("./engine.ts", import.meta.url), task, options.startMs),
    workers: 1,
    queueLimit: options.mostWaiting ?? 16,
    answerMs: options.answerMs ?? 20_000,
    readyMs: options.answerMs ?? 20_000,
    protocol,
    whenDown: "fail"
  })

const protocol: JobProtocol<EngineJob, ToEngine, FromEngine> = {
  start: (id, job) => ({ ...job, id }),
  isAbout: (message, id) => message._tag !== "Ready" && message.id === id,
  isLast: ({ _tag }) => _tag === "Done" || _tag === "Failed",
  cancel: (id) => ({ _tag: "Cancel", id })
}

/** A `SpeechError` of this provider. */
export const failure = (reason: SpeechErrorReason, message: string): SpeechError =>
  new SpeechError({ reason, provider, message })
