// From an engine's samples to the bytes a listener gets: level, volume, sample rate, codec, all in worker threads.
// Each call waits for its answer: that is the back-pressure, and no line holds more than one block.
import { Context, type Effect, type Scope } from "effect"
import type { OutputFormat } from "@parley/audio/encode/OutputFormat"
import type { SpeechError } from "../ports/SpeechError.ts"

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

export class SoundLines extends Context.Service<
  SoundLines,
  {
    /** Closing the scope frees the codec. Fails with `Overloaded` when too many lines are open. */
    readonly open: (options: SoundLineOptions) => Effect.Effect<SoundLine, SpeechError, Scope.Scope>
  }
>()("parley/speech/SoundLines") {}
