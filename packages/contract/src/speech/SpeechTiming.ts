// When each word of a chunk sounds: a snapshot that replaces every earlier one of the same chunk.
import { Schema } from "effect"

/** Words with their times in seconds. */
export const Alignment = Schema.Struct({
  /** Words without punctuation, seconds from the chunk's beginning. */
  segments: Schema.Array(Schema.Struct({ text: Schema.String, start: Schema.Finite, end: Schema.Finite })),
  audio_duration: Schema.Finite
})
export type Alignment = typeof Alignment.Type

/** One event of POST /v1/tts/stream/with-timestamp. */
export const TimedAudio = Schema.Struct({
  audio_base64: Schema.String,
  content: Schema.String,
  alignment: Schema.NullOr(Alignment),
  chunk_seq: Schema.Int,
  /** Seconds: where the chunk begins in the whole sound. */
  chunk_audio_offset_sec: Schema.Finite
})
export type TimedAudio = typeof TimedAudio.Type
