// RIFF/WAVE as it arrives: bytes in pieces of any size, mono 16-bit samples out. Accepts what is common and wrong
// (placeholder or excessive sizes, unknown chunks) and throws nothing but `WavError`, whatever the bytes.
import { decodeALaw, decodeMuLaw } from "./G711.ts"

/** What is wrong with the file. */
export type WavErrorReason =
  /** No RIFF/WAVE header. */
  | "NotWav"
  /** A format or data chunk is missing, or the format chunk is cut or contradicts itself. */
  | "Malformed"
  /** A codec, width or channel count that is not read here. */
  | "Unsupported"

/** Thrown for a file that cannot be read. */
export class WavError extends Error {
  override readonly name = "WavError"
  readonly reason: WavErrorReason
  constructor(reason: WavErrorReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** Bytes of a file in pieces of any length in, mono 16-bit samples out. */
export class WavReader {
  #held = new Uint8Array(0)
  #phase: "riff" | "chunks" | "data" | "over" = "riff"
  /** Bytes of a chunk that is passed over. */
  #skip = 0
  /** Bytes of the data chunk still to come. */
  #left = 0
  #format: WavFormat | undefined

  /** Undefined until the format chunk was read. */
  get format(): WavFormat | undefined {
    return this.#format
  }

  /** The samples that became whole. Throws `WavError`. */
  push(bytes: Uint8Array): Int16Array {
    if (this.#phase === "over") return new Int16Array(0)
    this.#held = this.#held.length === 0 ? bytes.slice() : joined(this.#held, bytes)
    if (this.#phase === "riff" && this.#held.length >= 12) this.#begin()
    while (this.#phase === "chunks" && this.#chunk());
    if (this.#phase !== "data" || this.#format === undefined) return new Int16Array(0)
    const there = Math.min(this.#held.length, this.#left)
    const whole = there - (there % frameBytes(this.#format))
    const samples = decode(this.#held.subarray(0, whole), this.#format)
    this.#held = this.#held.slice(whole)
    this.#left -= whole
    if (this.#left < frameBytes(this.#format)) this.#phase = "over"
    return samples
  }

  /** Says what the file was. Throws `WavError` when it ended before its data. */
  end(): WavFormat {
    if (this.#phase === "riff") throw new WavError("NotWav", "not a RIFF/WAVE file")
    if (this.#phase === "chunks" || this.#format === undefined) {
      throw new WavError("Malformed", this.#format === undefined ? "no format chunk" : "no data chunk")
    }
    return this.#format
  }

  #begin(): void {
    const tag = readTag(this.#held, 0)
    if ((tag !== "RIFF" && tag !== "RF64") || readTag(this.#held, 8) !== "WAVE") {
      throw new WavError("NotWav", "not a RIFF/WAVE file")
    }
    this.#phase = "chunks"
    this.#skip = 12
  }

  /** One step through the chunks; false when more bytes are needed. */
  #chunk(): boolean {
    const passed = Math.min(this.#skip, this.#held.length)
    if (passed > 0) this.#held = this.#held.slice(passed)
    this.#skip -= passed
    if (this.#skip > 0 || this.#held.length < 8) return false
    const view = new DataView(this.#held.buffer, this.#held.byteOffset, this.#held.byteLength)
    const tag = readTag(this.#held, 0)
    const size = view.getUint32(4, true)
    if (tag === "data") {
      if (this.#format === undefined) throw new WavError("Malformed", "no format before the data")
      // Throws here, not at the first sample, when the codec is unknown.
      readerOf(new Uint8Array(0), this.#format)
      this.#held = this.#held.slice(8)
      // 0 and the largest size are what writers of streams leave behind.
      this.#left = size === 0 || size >= 0x7fff0000 ? Number.POSITIVE_INFINITY : size
      this.#phase = "data"
      return false
    }
    if (tag === "fmt ") {
      if (this.#held.length < 8 + Math.min(size, 40)) return false
      this.#format = parseFormat(view, 8, size)
    }
    this.#skip = 8 + size + (size & 1)
    return true
  }
}

/** The format chunk of a file. */
export interface WavFormat {
  readonly codec: number
  readonly channels: number
  readonly sampleRate: number
  readonly bits: number
}

/** Format tags of RIFF WAVE that are understood. */
export const wavCodecs = { pcm: 1, float: 3, aLaw: 6, muLaw: 7, extensible: 0xfffe }

const parseFormat = (view: DataView, at: number, size: number): WavFormat => {
  if (size < 16 || at + 16 > view.byteLength) throw new WavError("Malformed", "the format chunk is cut")
  const tagged = view.getUint16(at, true)
  const extended = tagged === wavCodecs.extensible && size >= 26 && at + 26 <= view.byteLength
  const format = {
    codec: extended ? view.getUint16(at + 24, true) : tagged,
    channels: view.getUint16(at + 2, true),
    sampleRate: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true)
  }
  if (format.channels < 1 || format.channels > 16) throw new WavError("Unsupported", `${format.channels} channels`)
  if (format.sampleRate < 1000 || format.sampleRate > 384_000) {
    throw new WavError("Unsupported", `${format.sampleRate} samples per second`)
  }
  return format
}

/** Whole frames of `data` as the mean of their channels. */
const decode = (data: Uint8Array, format: WavFormat): Int16Array => {
  const read = readerOf(data, format)
  const samples = new Int16Array(Math.floor(data.length / frameBytes(format)))
  for (let frame = 0; frame < samples.length; frame++) {
    let sum = 0
    for (let channel = 0; channel < format.channels; channel++) sum += read(frame * format.channels + channel)
    samples[frame] = Math.round(sum / format.channels)
  }
  return samples
}

const frameBytes = (format: WavFormat): number => (format.bits / 8) * format.channels

/** Sample n of the data as a 16-bit value. */
const readerOf = (data: Uint8Array, format: WavFormat): ((n: number) => number) => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  switch (`${format.codec}/${format.bits}`) {
    case `${wavCodecs.pcm}/8`:
      return (n) => (data[n]! - 128) * 256
    case `${wavCodecs.pcm}/16`:
      return (n) => view.getInt16(2 * n, true)
    case `${wavCodecs.pcm}/24`:
      return (n) => clip(view.getInt16(3 * n + 1, true) + data[3 * n]! / 256)
    case `${wavCodecs.pcm}/32`:
      return (n) => clip(view.getInt32(4 * n, true) / 65536)
    case `${wavCodecs.float}/32`:
      return (n) => clip(view.getFloat32(4 * n, true) * 32768)
    case `${wavCodecs.float}/64`:
      return (n) => clip(view.getFloat64(8 * n, true) * 32768)
    case `${wavCodecs.aLaw}/8`:
      return at(decodeALaw(data))
    case `${wavCodecs.muLaw}/8`:
      return at(decodeMuLaw(data))
  }
  throw new WavError("Unsupported", `codec ${format.codec} with ${format.bits} bits`)
}

const at =
  (samples: Int16Array) =>
  (n: number): number =>
    samples[n]!

/** NaN, as damaged float files hold, becomes silence. */
const clip = (value: number): number => (value > 32767 ? 32767 : value < -32768 ? -32768 : value || 0)

const readTag = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4))

const joined = (before: Uint8Array, after: Uint8Array): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(before.length + after.length)
  all.set(before)
  all.set(after, before.length)
  return all
}
