// The answer of POST /v1/asr.
import { Schema } from "effect"

/** Times in seconds. */
export const Transcript = Schema.Struct({
  text: Schema.String,
  /** Seconds, silence included. */
  duration: Schema.Finite,
  /** One per word; empty when times were not asked for. */
  segments: Schema.Array(Schema.Struct({ text: Schema.String, start: Schema.Finite, end: Schema.Finite })),
  /** English name. Absent when unknown. */
  language: Schema.optionalKey(Schema.String),
  /** ISO 639-1. */
  language_code: Schema.optionalKey(Schema.String)
})
export type Transcript = typeof Transcript.Type

/** `model` header; unknown ones fall back to the first. */
export const asrModels = ["transcribe-1"] as const

/** What a recording may be. */
export const recordingLimits = { bytes: 50 * 2 ** 20, seconds: 3600, leastSeconds: 0.08 } as const
