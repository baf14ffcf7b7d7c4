// What is asked of an encoder inside its thread, and what it answers.
import type { OutputFormat } from "@parley/audio/encode/OutputFormat"

export type EncoderJob =
  /** The first job of a slot. */
  | { readonly _tag: "Open"; readonly format: OutputFormat; readonly volumeDb: number; readonly level: boolean }
  | { readonly _tag: "Write"; readonly samples: Int16Array; readonly sampleRate: number }
  | { readonly _tag: "Drain" }
  | { readonly _tag: "Finish" }

export type EncoderAnswer =
  /** `samples`: how many the encoder has taken so far, padding of drains included, at the format's rate. */
  | { readonly _tag: "Bytes"; readonly bytes: Uint8Array; readonly samples: number }
  | { readonly _tag: "Rejected"; readonly message: string }
