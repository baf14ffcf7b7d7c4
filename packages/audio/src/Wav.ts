// RIFF/WAVE: a header to write, and a parser for what people upload. The parser accepts what is common and
// wrong (placeholder or excessive sizes, missing padding, unknown chunks) and gives mono 16-bit PCM; it
// throws nothing but `WavError`, whatever the bytes.
import { wavCodecs, WavReader } from "./WavReader.ts"

/** A parsed file: mono 16-bit samples. */
export interface Wav {
  readonly sampleRate: number
  /** Channels of the file; `samples` is their mean. */
  readonly channels: number
  readonly samples: Int16Array
}

/** Length of the header that `wavHeader` makes. */
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
  view.setUint16(20, wavCodecs.pcm, true)
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

/** 16-bit samples of little-endian bytes: a copy. Half a sample at the end is dropped. */
export const samplesOf = (bytes: Uint8Array): Int16Array => {
  const samples = new Int16Array(bytes.length >> 1)
  if (littleEndian) new Uint8Array(samples.buffer).set(bytes.subarray(0, samples.byteLength))
  else {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(2 * i, true)
  }
  return samples
}

/** Throws `WavError`. A cut last sample is dropped. */
export const parseWav = (bytes: Uint8Array): Wav => {
  const reader = new WavReader()
  const samples = reader.push(bytes)
  const { channels, sampleRate } = reader.end()
  return { sampleRate, channels, samples }
}

const writeTag = (bytes: Uint8Array, at: number, tag: string): void => {
  for (let i = 0; i < 4; i++) bytes[at + i] = tag.charCodeAt(i)
}

const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
