// What is asked of a Flite worker thread and what it answers: one answer per job, in order. Jobs are
// synchronous inside the worker, so a worker never holds more than one.
import type { AdaptedVoice } from "./AdaptedVoice.ts"
import type { TimedPhone } from "./WordAlignment.ts"

/** Who speaks, how fast, and how it is bent. */
export interface FliteVoice extends Partial<Omit<AdaptedVoice, "voice" | "stretch">> {
  readonly voice: string
  /** 1 / speed, times what an adapted voice adds. */
  readonly stretch: number
}

export type FliteJob =
  /** Printable ASCII in, audio and phones out. */
  | { readonly _tag: "Speak"; readonly text: string; readonly voice: FliteVoice }
  /** Phones of each token spoken alone. */
  | { readonly _tag: "Pronounce"; readonly tokens: ReadonlyArray<string> }

export type FliteAnswer =
  /** Trimmed of leading and trailing silence; phone times count from the first sample. */
  | {
      readonly _tag: "Spoken"
      readonly samples: Int16Array<ArrayBuffer>
      readonly sampleRate: number
      readonly phones: ReadonlyArray<TimedPhone>
    }
  | { readonly _tag: "Pronounced"; readonly phones: ReadonlyArray<ReadonlyArray<string>> }
  | { readonly _tag: "Failed"; readonly message: string }

/** The first message of a worker: the program is compiled and warm. */
export const workerReady = "ready"
