// MPEG-1 layer III, mono, constant bit rate, by LAME in WebAssembly; no Xing or Info frame, so that a stream may be
// cut and joined anywhere between frames. LAME begins to write a frame before it ends it: what a call returns may
// stop inside a frame, and `drain` adds silence until the frames that carry the sound are whole (ISO 11172-3, 2.4).
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { createEncoder } from "wasm-media-encoders"
import type { AudioEncoder } from "./AudioEncoder.ts"
import { Bytes } from "./Bytes.ts"
import type { OutputFormat } from "./OutputFormat.ts"

type Mp3 = Extract<OutputFormat, { codec: "mp3" }>

const frameSamples = 1152
/** From a sample put in to the same sample decoded: 576 of the encoder, 529 of any decoder. */
const mp3DelaySamples = 576 + 529
/** A frame is heard whole only when the next one is there: the transform overlaps. */
const overlapSamples = 576
/** Silence is added in pieces of this size while draining. */
const drainStep = 192
/** Enough for the delay, LAME's look-ahead and a reservoir that fills: never reached. */
const mostDrainSteps = 64

let program: Parameters<typeof createEncoder>[1] | undefined

const makeLame = async () =>
  createEncoder("audio/mpeg", program ?? (await readFile(fileURLToPath(wasm))), (compiled) => {
    program = compiled
  })

const wasm = import.meta.resolve("wasm-media-encoders/wasm/mp3")

/** MPEG layer III at a constant bit rate, mono. */
export const makeMp3Encoder = async (format: Mp3): Promise<AudioEncoder> => {
  const lame = await makeLame()
  lame.configure({ sampleRate: format.sampleRate, channels: 1, bitrate: format.kbps })
  const frames = new FrameCount(format)
  let taken = 0
  /** End of what was put in, without the silence of `drain` after it. */
  let sounding = 0

  const put = (samples: Float32Array): Uint8Array => {
    taken += samples.length
    // The codec overwrites its buffer with the next call.
    const bytes = lame.encode([samples]).slice()
    frames.count(bytes)
    return bytes
  }

  return {
    format,
    encode: (samples) => {
      if (samples.length === 0) return new Uint8Array(0)
      const bytes = put(floats(samples))
      sounding = taken
      return bytes
    },
    drain: () => {
      if (taken === 0) return { bytes: new Uint8Array(0), padding: 0 }
      const wanted = sounding + mp3DelaySamples + overlapSamples
      const out = new Bytes()
      const silence = new Float32Array(drainStep)
      let padding = 0
      for (let step = 0; step < mostDrainSteps && frames.whole * frameSamples < wanted; step++) {
        out.add(put(silence))
        padding += drainStep
      }
      return { bytes: out.take(), padding }
    },
    finish: () => lame.finalize().slice(),
    close: () => {}
  }
}

/** Counts the frames that are complete in what was given out. */
class FrameCount {
  whole = 0
  readonly #format: Mp3
  #left = 0
  #header: Array<number> = []

  constructor(format: Mp3) {
    this.#format = format
  }

  count(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#header.length < 4) {
        this.#header.push(bytes[at++]!)
        if (this.#header.length === 4) this.#left = this.#size() - 4
        continue
      }
      const step = Math.min(this.#left, bytes.length - at)
      at += step
      this.#left -= step
      if (this.#left > 0) continue
      this.whole++
      this.#header = []
    }
  }

  #size(): number {
    const padding = (this.#header[2]! >> 1) & 1
    return Math.floor(((frameSamples / 8) * this.#format.kbps * 1000) / this.#format.sampleRate) + padding
  }
}

const floats = (samples: Int16Array): Float32Array => {
  const out = new Float32Array(samples.length)
  for (let i = 0; i < samples.length; i++) out[i] = samples[i]! / 32768
  return out
}
