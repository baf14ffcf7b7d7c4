// RIFF/WAVE: a header to write, and a parser for what people upload. The parser accepts what is common and
// wrong (placeholder or excessive sizes, missing padding, unknown chunks) and gives mono 16-bit PCM; it
// throws nothing but `WavError`, whatever the bytes.
import { decodeALaw, decodeMuLaw } from "./G711.ts"

export type WavErrorReason =
  /** No RIFF/WAVE header. */
  | "NotWav"
  /** A format or data chunk is missing, or the format chunk is cut or contradicts itself. */
  | "Malformed"
  /** A codec, width or channel count that is not read here. */
  | "Unsupported"

export class WavError extends Error {
  override readonly name = "WavError"
  readonly reason: WavErrorReason
  constructor(reason: WavErrorReason, message: string) {
    super(message)
    this.reason = reason
  }
}

export interface Wav {
  readonly sampleRate: number
  /** Channels of the file; `samples` is their mean. */
  readonly channels: number
  readonly samples: Int16Array
}

export const wavHeaderBytes = 44

/** Header of 16-bit PCM. Without `dataBytes` the sizes are the placeholders of a stream of unknown length. */
export const wavHeader = (sampleRate: number, dataBytes?: number, channels = 1): Uint8Array => {
  const header = new Uint8Array(wavHeaderBytes)
  const view = new DataView(header.buffer)
  writeTag(header, 0, "RIFF")
  view.setUint32(4, dataBytes === undefined ? 0xffffffff : dataBytes + wavHeaderBytes - 8, true)
  writeTag(header, 8, "WAVE")
  writeTag(header, 12, "fmt ")
  view.setUint32(16, 16, true)
  view.setUint16(20, formats.pcm, true)
  view.setUint16(22, channels, true)
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, sampleRate * channels * 2, true)
  view.setUint16(32, channels * 2, true)
  view.setUint16(34, 16, true)
  writeTag(header, 36, "data")
  view.setUint32(40, dataBytes ?? 0xffffffff, true)
  return header
}

/** A whole file of mono 16-bit PCM. */
export const encodeWav = (samples: Int16Array, sampleRate: number): Uint8Array => {
  const file = new Uint8Array(wavHeaderBytes + samples.length * 2)
  file.set(wavHeader(sampleRate, samples.length * 2))
  file.set(pcmBytes(samples), wavHeaderBytes)
  return file
}

/** Little-endian bytes of 16-bit samples: a view on the same memory where the machine allows. */
export const pcmBytes = (samples: Int16Array): Uint8Array => {
  if (littleEndian) return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
  const bytes = new Uint8Array(samples.length * 2)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < samples.length; i++) view.setInt16(2 * i, samples[i]!, true)
  return bytes
}

/** Throws `WavError`. A cut last sample is dropped. */
export const parseWav = (bytes: Uint8Array): Wav => {
  if (bytes.length < 12 || readTag(bytes, 0) !== "RIFF" || readTag(bytes, 8) !== "WAVE") {
    throw new WavError("NotWav", "not a RIFF/WAVE file")
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let format: Format | undefined
  for (let at = 12; at + 8 <= bytes.length;) {
    const tag = readTag(bytes, at)
    const size = view.getUint32(at + 4, true)
    const body = at + 8
    if (tag === "fmt ") format = parseFormat(view, body, size)
    if (tag === "data") {
      if (format === undefined) throw new WavError("Malformed", "no format before the data")
      const left = bytes.length - body
      return decode(bytes.subarray(body, body + Math.min(size, left)), format)
    }
    at = body + size + (size & 1)
  }
  throw new WavError("Malformed", format === undefined ? "no format chunk" : "no data chunk")
}

interface Format {
  readonly codec: number
  readonly channels: number
  readonly sampleRate: number
  readonly bits: number
}

const formats = { pcm: 1, float: 3, aLaw: 6, muLaw: 7, extensible: 0xfffe }

const parseFormat = (view: DataView, at: number, size: number): Format => {
  if (size < 16 || at + 16 > view.byteLength) throw new WavError("Malformed", "the format chunk is cut")
  const tagged = view.getUint16(at, true)
  const extended = tagged === formats.extensible && size >= 26 && at + 26 <= view.byteLength
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

const decode = (data: Uint8Array, format: Format): Wav => {
  const width = format.bits / 8
  const read = readerOf(data, format)
  const frames = Math.floor(data.length / (width * format.channels))
  const samples = new Int16Array(frames)
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0
    for (let channel = 0; channel < format.channels; channel++) sum += read(frame * format.channels + channel)
    samples[frame] = Math.round(sum / format.channels)
  }
  return { sampleRate: format.sampleRate, channels: format.channels, samples }
}

/** Sample n of the data as a 16-bit value. */
const readerOf = (data: Uint8Array, format: Format): ((n: number) => number) => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  switch (`${format.codec}/${format.bits}`) {
    case `${formats.pcm}/8`:
      return (n) => (data[n]! - 128) * 256
    case `${formats.pcm}/16`:
      return (n) => view.getInt16(2 * n, true)
    case `${formats.pcm}/24`:
      return (n) => clip(view.getInt16(3 * n + 1, true) + data[3 * n]! / 256)
    case `${formats.pcm}/32`:
      return (n) => clip(view.getInt32(4 * n, true) / 65536)
    case `${formats.float}/32`:
      return (n) => clip(view.getFloat32(4 * n, true) * 32768)
    case `${formats.float}/64`:
      return (n) => clip(view.getFloat64(8 * n, true) * 32768)
    case `${formats.aLaw}/8`:
      return at(decodeALaw(data))
    case `${formats.muLaw}/8`:
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

const writeTag = (bytes: Uint8Array, at: number, tag: string): void => {
  for (let i = 0; i < 4; i++) bytes[at + i] = tag.charCodeAt(i)
}

const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
