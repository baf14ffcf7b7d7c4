// Encoders without codecs or threads: samples come out as raw little-endian PCM at the engine's own rate.
// For tests of what lies before the encoder; the format asked for is only remembered.
import { Effect, Layer } from "effect"
import { EncoderPool } from "../encoding/EncoderPool.ts"
import type { EncoderOptions } from "../encoding/EncoderPool.ts"

export interface FakeEncoderPool {
  readonly layer: Layer.Layer<EncoderPool>
  /** Options of every encoder, in order. */
  readonly opened: ReadonlyArray<EncoderOptions>
  /** Encoders open now. */
  readonly running: () => number
}

export const makeFakeEncoderPool = (
  options: {
    /** Silence that each `drain` adds. Default 0. */
    readonly paddingMs?: number
    /** What `finish` gives, to be told from audio. Default nothing. */
    readonly trailer?: Uint8Array
  } = {}
): FakeEncoderPool => {
  const opened: Array<EncoderOptions> = []
  let running = 0
  const open = Effect.fnUntraced(function* (asked: EncoderOptions) {
    yield* Effect.acquireRelease(
      Effect.sync(() => running++),
      () => Effect.sync(() => running--)
    )
    opened.push(asked)
    let positionMs = 0
    return {
      write: (samples: Int16Array, sampleRate: number) =>
        Effect.sync(() => {
          positionMs += (samples.length * 1000) / sampleRate
          return new Uint8Array(samples.slice().buffer)
        }),
      drain: Effect.sync(() => {
        positionMs += options.paddingMs ?? 0
        return new Uint8Array(0)
      }),
      finish: Effect.sync(() => options.trailer ?? new Uint8Array(0)),
      positionMs: () => positionMs
    }
  })
  return { layer: Layer.succeed(EncoderPool, { open }), opened, running: () => running }
}
