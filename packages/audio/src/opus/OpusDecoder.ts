// Opus packets in, PCM out at the listener's own rate: libopus decodes straight to 16 kHz, so hearing needs
// no resampler. Conceals what was lost, from the next packet's FEC where there is one (RFC 6716, 2.1.7).
// Packets come from the network: a malformed one is told by `undefined`, never thrown.
import { createDecoder, isOpusError } from "libopus-wasm"

/** One incoming stream (RFC 6716). */
export interface OpusDecoder {
  readonly sampleRate: number
  /** The packet's samples (2.5 to 120 ms), or undefined when it is not an Opus packet. */
  readonly decode: (packet: Uint8Array) => Int16Array | undefined
  /** The frame before `next`, from the redundancy `next` carries; libopus conceals when it carries none. */
  readonly recover: (next: Uint8Array, samples: number) => Int16Array
  /** A guess at a frame that is gone: fades to silence when repeated. */
  readonly conceal: (samples: number) => Int16Array
  /** Gives the codec's memory back. Idempotent; the others throw afterwards. */
  readonly close: () => void
}

/** The rate of what comes out. */
export interface OpusDecoderOptions {
  readonly sampleRate: 8000 | 12000 | 16000 | 24000 | 48000
}

/** Mono at the rate asked for, whatever the stream was encoded from. */
export const makeOpusDecoder = async (options: OpusDecoderOptions): Promise<OpusDecoder> => {
  const handle = await createDecoder({ channels: 1, sampleRate: options.sampleRate })

  const conceal = (samples: number): Int16Array => handle.decode(null, { frameSize: samples })

  return {
    sampleRate: options.sampleRate,
    decode: (packet) => {
      if (packet.byteLength === 0) return undefined
      try {
        return handle.decode(packet)
      } catch (error) {
        if (isOpusError(error)) return undefined
        throw error
      }
    },
    recover: (next, samples) => {
      try {
        return handle.decode(next, { decodeFec: true, frameSize: samples })
      } catch (error) {
        if (isOpusError(error) || error instanceof RangeError) return conceal(samples)
        throw error
      }
    },
    conceal,
    close: () => handle.free()
  }
}
