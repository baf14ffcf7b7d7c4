// The port of streaming encoders: mono PCM in, bytes of one continuous file out. Synchronous: runs where its owner
// put it, which is a worker thread. Every returned array is the caller's.
import type { OutputFormat } from "./OutputFormat.ts"

/** The port of an encoder: samples of one stream in, bytes out. */
export interface AudioEncoder {
  readonly format: OutputFormat
  /** Samples at `format.sampleRate`, of any length. Empty when nothing is ready yet. */
  readonly encode: (samples: Int16Array) => Uint8Array
  /**
   * Pads with the least silence that makes everything put in so far decodable from the bytes given out.
   * `padding`: samples of silence added. The file goes on afterwards.
   */
  readonly drain: () => { readonly bytes: Uint8Array; readonly padding: number }
  /** The end of the file. Nothing may be encoded afterwards. */
  readonly finish: () => Uint8Array
  /** Gives the codec's memory back. Idempotent. */
  readonly close: () => void
}
