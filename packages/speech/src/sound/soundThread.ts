// The thread of sound lines: samples -> sample rate -> level -> volume -> codec, one block per question.
// Level and volume come after the resampler, whose overshoot they then keep from clipping.
import { makeAudioEncoder } from "@parley/audio/encode/makeAudioEncoder"
import type { AudioEncoder } from "@parley/audio/encode/AudioEncoder"
import { amplify, gainOf } from "@parley/audio/Level"
import { Leveller } from "@parley/audio/Leveller"
import { Resampler } from "@parley/audio/Resampler"
import type { LineAnswer, LineQuestion } from "./LineJob.ts"
import { serveSlots } from "../workers/serveSlots.ts"
import type { SlotHandler } from "../workers/serveSlots.ts"

class Line implements SlotHandler<LineQuestion, LineAnswer> {
  #encoder: AudioEncoder | undefined
  #leveller: Leveller | undefined
  #resampler: Resampler | undefined
  #gain = 1
  #samples = 0

  readonly answer = async (question: LineQuestion): Promise<LineAnswer> => {
    if (question._tag === "Open") {
      this.#gain = gainOf(question.volumeDb)
      this.#leveller = question.level ? new Leveller(question.format.sampleRate) : undefined
      this.#encoder = await makeAudioEncoder(question.format)
      return this.#bytes(new Uint8Array(0))
    }
    const encoder = this.#encoder
    if (encoder === undefined) return { _tag: "Refused", message: "the line is not open" }
    switch (question._tag) {
      case "Write": {
        const known = question.sampleRate === this.#resampler?.fromRate
        const next = known ? this.#resampler : resamplerOf(question.sampleRate, encoder.format.sampleRate)
        if (next === undefined) return { _tag: "Refused", message: "a sample rate that cannot be converted" }
        // Another engine's rate: the tail of the old one first.
        const tail = known ? new Uint8Array(0) : this.#flush(encoder)
        this.#resampler = next
        return this.#bytes(Buffer.concat([tail, this.#encode(next.process(question.samples), encoder)]))
      }
      case "Drain": {
        const tail = this.#flush(encoder)
        const { bytes, padding } = encoder.drain()
        this.#samples += padding
        return this.#bytes(Buffer.concat([tail, bytes]))
      }
      case "Finish": {
        const tail = this.#flush(encoder)
        return this.#bytes(Buffer.concat([tail, encoder.finish()]))
      }
    }
  }

  readonly close = (): void => this.#encoder?.close()

  #flush(encoder: AudioEncoder): Uint8Array {
    return this.#encode(this.#resampler?.flush() ?? new Int16Array(0), encoder)
  }

  #encode(samples: Int16Array, encoder: AudioEncoder): Uint8Array {
    this.#leveller?.process(samples)
    if (this.#gain !== 1) amplify(samples, this.#gain)
    this.#samples += samples.length
    return encoder.encode(samples)
  }

  #bytes(bytes: Uint8Array): LineAnswer {
    // A small Buffer is a view on a pool that must not be given away.
    const owned = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
    return { _tag: "Bytes", bytes: owned, samples: this.#samples }
  }
}

const resamplerOf = (fromRate: number, toRate: number): Resampler | undefined => {
  try {
    return new Resampler(fromRate, toRate)
  } catch {
    return undefined
  }
}

serveSlots<LineQuestion, LineAnswer>(
  () => new Line(),
  (answer) => (answer._tag === "Bytes" ? [answer.bytes.buffer] : [])
)

// Compiles the codecs before the first line asks for one.
for (const format of [
  { codec: "mp3", sampleRate: 44100, kbps: 128 },
  { codec: "opus", sampleRate: 48000, bitsPerSecond: undefined }
] as const) {
  const encoder = await makeAudioEncoder(format)
  encoder.close()
}
