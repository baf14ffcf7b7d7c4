// Opus in Ogg (RFC 7845), mono: 20 ms packets, pages of 100 ms, the first page after one packet so that a listener can
// begin. Positions in the file count at 48 kHz whatever the input's rate. The encoder's look-ahead is the pre-skip; the
// last granule position trims the padding.
import { Application, createEncoder, Signal } from "libopus-wasm"
import type { AudioEncoder } from "./AudioEncoder.ts"
import { Bytes } from "./Bytes.ts"
import { OggWriter } from "./OggWriter.ts"
import type { OutputFormat } from "./OutputFormat.ts"

type Opus = Extract<OutputFormat, { codec: "opus" }>

const granuleRate = 48_000
const framesPerSecond = 50

/** Of the container. */
export interface OggOpusOptions {
  /** Of the logical stream. Default: random. */
  readonly serial?: number
  /** Of the samples put in; the codec resamples by itself. Default 48000. */
  readonly inputRate?: 8000 | 12_000 | 16_000 | 24_000 | 48_000
  /** Default 5: 100 ms. */
  readonly packetsPerPage?: number
  /** 0-10; default 5. */
  readonly complexity?: number
}

/** Opus in Ogg (RFC 7845), mono; the last page says how long it is. */
export const makeOggOpusEncoder = async (format: Opus, options: OggOpusOptions = {}): Promise<AudioEncoder> => {
  const inputRate = options.inputRate ?? granuleRate
  const frameSamples = inputRate / framesPerSecond
  const packetsPerPage = options.packetsPerPage ?? 5
  /** Of the file's clock to one sample put in. */
  const units = granuleRate / inputRate
  const opus = await createEncoder({
    application: Application.Audio,
    signal: Signal.Voice,
    channels: 1,
    sampleRate: inputRate,
    complexity: options.complexity ?? 5,
    bitrate: format.bitsPerSecond ?? "auto"
  })
  const preSkip = opus.getLookahead()
  const ogg = new OggWriter(options.serial ?? Math.floor(Math.random() * 2 ** 32))
  const out = new Bytes()
  const frame = new Int16Array(frameSamples)
  let held = 0
  let taken = 0
  /** End of what was put in, without the silence of `drain` after it. */
  let sounding = 0
  let packed = 0
  let pages = 0

  const closePage = (last = false): void => {
    out.add(ogg.page(Math.min(packed, taken + preSkip) * units, last))
    pages++
  }
  const open = (): void => {
    if (pages > 0) return
    ogg.add(head(preSkip * units, inputRate))
    out.add(ogg.page(0))
    ogg.add(tags())
    out.add(ogg.page(0))
    pages = 2
  }
  const pack = (packet: Uint8Array): void => {
    if (!ogg.fits(packet)) closePage()
    ogg.add(packet)
    packed += frameSamples
  }
  /** `ending`: keeps the page open, which the last packet must be on. `finish` always has look-ahead to encode. */
  const put = (samples: Int16Array, ending = false): void => {
    for (let at = 0; at < samples.length;) {
      const step = Math.min(frameSamples - held, samples.length - at)
      frame.set(samples.subarray(at, at + step), held)
      at += step
      held += step
      if (held < frameSamples) break
      pack(opus.encode(frame))
      held = 0
      if (!ending && ogg.packets >= (pages === 2 ? 1 : packetsPerPage)) closePage()
    }
  }
  /** Silence until the look-ahead of everything put in is encoded, to the end of a packet. */
  const padding = (): number => Math.ceil((taken + preSkip) / frameSamples) * frameSamples - taken

  return {
    format,
    encode: (samples) => {
      if (samples.length === 0) return out.take()
      open()
      taken += samples.length
      sounding = taken
      put(samples)
      return out.take()
    },
    drain: () => {
      const silence = taken === 0 || packed >= sounding + preSkip ? 0 : padding()
      taken += silence
      put(new Int16Array(silence))
      if (ogg.packets > 0) closePage()
      return { bytes: out.take(), padding: silence }
    },
    finish: () => {
      open()
      put(new Int16Array(padding()), true)
      closePage(true)
      return out.take()
    },
    close: () => opus.free()
  }
}

/** RFC 7845, 5.1: version 1, one channel, no gain, mapping family 0. */
const head = (preSkip: number, inputRate: number): Uint8Array => {
  const packet = new Uint8Array(19)
  const view = new DataView(packet.buffer)
  packet.set(new TextEncoder().encode("OpusHead"))
  packet[8] = 1
  packet[9] = 1
  view.setUint16(10, preSkip, true)
  view.setUint32(12, inputRate, true)
  return packet
}

/** RFC 7845, 5.2: who wrote it, and no comments. */
const tags = (): Uint8Array => {
  const vendor = new TextEncoder().encode("Parley")
  const packet = new Uint8Array(16 + vendor.length)
  packet.set(new TextEncoder().encode("OpusTags"))
  new DataView(packet.buffer).setUint32(8, vendor.length, true)
  packet.set(vendor, 12)
  return packet
}
