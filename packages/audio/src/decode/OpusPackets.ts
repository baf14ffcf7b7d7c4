// Opus packets of a file to mono samples: the pre-skip taken away, lost and bad packets concealed, decoded straight
// at the rate that is wanted where Opus knows it (RFC 7845, 4.2; RFC 6716, 2).
import { makeOpusDecoder } from "../opus/OpusDecoder.ts"
import type { OpusDecoder } from "../opus/OpusDecoder.ts"
import { DecodeFault } from "./AudioDecoder.ts"

/** The rates that Opus decodes to (RFC 6716, 2). */
export type OpusRate = 8000 | 12000 | 16000 | 24000 | 48000

/** The same rate where Opus has it, else 48000. */
export const opusRateFor = (sampleRate: number): OpusRate =>
  ([8000, 12000, 16000, 24000] as const).find((rate) => rate === sampleRate) ?? 48000

/** Of the identification header (RFC 7845, 5.1); `preSkip` in samples at 48 kHz. */
export interface OpusHead {
  readonly preSkip: number
}

/** Throws a `DecodeFault` for what is not an OpusHead, or one of more than two channels. */
export const parseOpusHead = (packet: Uint8Array): OpusHead => {
  if (packet.length < 19 || String.fromCharCode(...packet.subarray(0, 8)) !== "OpusHead" || packet[8]! >> 4 !== 0) {
    throw new DecodeFault("Damaged", "Opus: the header is cut or unknown")
  }
  if (packet[18] !== 0) throw new DecodeFault("Unsupported", "Opus with more than two channels is not read")
  return { preSkip: packet[10]! | (packet[11]! << 8) }
}

/** The packets of one file to samples, its pre-skip left out. */
export class OpusPackets {
  readonly sampleRate: OpusRate
  readonly #codec: OpusDecoder
  #skip: number
  #lastSamples: number
  #good = 0

  private constructor(codec: OpusDecoder, sampleRate: OpusRate, preSkip: number) {
    this.#codec = codec
    this.sampleRate = sampleRate
    this.#skip = Math.round((preSkip * sampleRate) / 48000)
    this.#lastSamples = sampleRate / 50
  }

  static async make(sampleRate: OpusRate, preSkip: number): Promise<OpusPackets> {
    return new OpusPackets(await makeOpusDecoder({ sampleRate }), sampleRate, preSkip)
  }

  /** Packets that could be decoded. */
  get good(): number {
    return this.#good
  }

  decode(packet: Uint8Array): Int16Array {
    const known = this.#codec.decode(packet)
    if (known !== undefined) {
      this.#good++
      this.#lastSamples = known.length
    }
    const samples = known ?? this.#codec.conceal(this.#lastSamples)
    const skipped = Math.min(this.#skip, samples.length)
    this.#skip -= skipped
    return samples.slice(skipped)
  }

  close(): void {
    this.#codec.close()
  }
}
