// PCM in, Opus packets out: mono, 20 ms, tuned for a voice on a lossy network (in-band FEC on).
// libopus resamples by itself, so synthesized speech is encoded at its own rate with no 48 kHz stage
// (RFC 6716, 2.1.1). The codec behind the interface is libopus compiled to WebAssembly, one module per
// process; a native codec only has to implement `OpusEncoder`.
import { Application, createEncoder, Signal } from "libopus-wasm"

/** One outgoing stream (RFC 6716). */
export interface OpusEncoder {
  readonly sampleRate: number
  /**
   * One 20 ms frame of `sampleRate / 50` samples to one packet. The packet is the caller's.
   * Throws a RangeError for a frame of another size.
   */
  readonly encode: (frame: Int16Array) => Uint8Array
  /** Gives the codec's memory back. Idempotent; `encode` throws afterwards. */
  readonly close: () => void
}

/** How speech is encoded. */
export interface OpusEncoderOptions {
  readonly sampleRate: 8000 | 12000 | 16000 | 24000 | 48000
  /** 0-10; 3 costs half of 9 and is hard to tell from it on speech. */
  readonly complexity?: number
  readonly bitsPerSecond?: number
  /** What the FEC is tuned for. */
  readonly expectedLossPercent?: number
}

/** For speech, mono. */
export const makeOpusEncoder = async (options: OpusEncoderOptions): Promise<OpusEncoder> => {
  const handle = await createEncoder({
    application: Application.Voip,
    signal: Signal.Voice,
    channels: 1,
    sampleRate: options.sampleRate,
    complexity: options.complexity ?? 3,
    bitrate: options.bitsPerSecond ?? 32_000,
    fec: true,
    packetLossPercent: options.expectedLossPercent ?? 5
  })
  return {
    sampleRate: options.sampleRate,
    encode: (frame) => handle.encode(frame),
    close: () => handle.free()
  }
}
