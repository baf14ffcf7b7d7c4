// The thread of the encoder pool: samples -> sample rate -> level -> volume -> codec, one block per job.
// Level and volume come after the resampler, whose overshoot they then keep from clipping.
import { makeAudioEncoder } from "@parley/audio/encode/makeAudioEncoder"
import type { AudioEncoder } from "@parley/audio/encode/AudioEncoder"
import { amplify, gainOf } from "@parley/audio/Level"
import { Leveller } from "@parley/audio/Leveller"
import { Resampler } from "@parley/audio/Resampler"
import type { EncoderAnswer, EncoderJob } from "./EncoderJob.ts"
import { serveSlots } from "../workers/serveSlots.ts"
import type { SlotHandler } from "../workers/serveSlots.ts"

class EncoderSlot implements SlotHandler<EncoderJob, EncoderAnswer> {
  #encoder: AudioEncoder | undefined
  #leveller: Leveller | undefined
  #resampler: Resampler | undefined
  #gain = 1
  #samples = 0

  readonly answer = async (job: EncoderJob): Promise<EncoderAnswer> => {
    if (job._tag === "Open") {
      this.#gain = gainOf(job.volumeDb)
      this.#leveller = job.level ? new Leveller(job.format.sampleRate) : undefined
      this.#encoder = await makeAudioEncoder(job.format)
      return this.#bytes(new Uint8Array(0))
    }
    const encoder = this.#encoder
    if (encoder === undefined) return { _tag: "Rejected", message: "the encoder is not open" }
    switch (job._tag) {
      case "Write": {
        const known = job.sampleRate === this.#resampler?.fromRate
        const next = known ? this.#resampler : resamplerOf(job.sampleRate, encoder.format.sampleRate)
        if (next === undefined) return { _tag: "Rejected", message: "a sample rate that cannot be converted" }
        // Another engine's rate: the tail of the old one first.
        const tail = known ? new Uint8Array(0) : this.#flush(encoder)
        this.#resampler = next
        return this.#bytes(Buffer.concat([tail, this.#encode(next.process(job.samples), encoder)]))
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

  #bytes(bytes: Uint8Array): EncoderAnswer {
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

serveSlots<EncoderJob, EncoderAnswer>(
  () => new EncoderSlot(),
  (answer) => (answer._tag === "Bytes" ? [answer.bytes.buffer] : [])
)

// Compiles the codecs before the first job asks for one.
for (const format of [
  { codec: "mp3", sampleRate: 44100, kbps: 128 },
  { codec: "opus", sampleRate: 48000, bitsPerSecond: undefined }
] as const) {
  const encoder = await makeAudioEncoder(format)
  encoder.close()
}
