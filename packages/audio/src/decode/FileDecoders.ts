// WAV, MP3, FLAC and Ogg Vorbis behind the port. The codecs are WebAssembly with a heap of their own; only what our
// own readers took for whole reaches the MP3 decoder, the others parse for themselves.
import { FLACDecoder } from "@wasm-audio-decoders/flac"
import { OggVorbisDecoder } from "@wasm-audio-decoders/ogg-vorbis"
import { MPEGDecoder } from "mpg123-decoder"
import { WavError, WavReader } from "../WavReader.ts"
import { DecodeFault } from "./AudioDecoder.ts"
import type { AudioDecoder, Decoded } from "./AudioDecoder.ts"
import { monoOf } from "./Mono.ts"
import { Mp3Frames } from "./Mp3Frames.ts"

/** WAV with PCM, float, A-law or mu-law samples. */
export const makeWavDecoder = (): AudioDecoder => {
  const reader = new WavReader()
  return {
    pieceBytes: 65_536,
    decode: (bytes) => {
      const samples = guarded(() => reader.push(bytes))
      return reader.format === undefined ? [] : [{ sampleRate: reader.format.sampleRate, samples }]
    },
    finish: () => {
      guarded(() => reader.end())
      return []
    },
    close: () => {}
  }
}

/** The reader's own error as the port's. */
const guarded = <A>(work: () => A): A => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof WavError)) throw error
    throw new DecodeFault(error.reason === "Unsupported" ? "Unsupported" : "Damaged", `WAV: ${error.message}`)
  }
}

/** MPEG-1 and MPEG-2 layer III. */
export const makeMp3Decoder = async (): Promise<AudioDecoder> => {
  const codec = new MPEGDecoder()
  await codec.ready
  const frames = new Mp3Frames()
  const decode = (whole: ReadonlyArray<Uint8Array>): ReadonlyArray<Decoded> =>
    whole.map((frame) => {
      const { channelData, sampleRate, samplesDecoded } = codec.decode(frame)
      return { sampleRate, samples: monoOf(channelData, samplesDecoded) }
    })
  return {
    pieceBytes: 8192,
    decode: (bytes) => decode(frames.push(bytes)),
    finish: () => {
      const rest = decode(frames.push(new Uint8Array(0), true))
      if (frames.found === 0) throw new DecodeFault("Damaged", "MP3: no frame could be read")
      return rest
    },
    close: () => codec.free()
  }
}

interface PushCodec {
  readonly ready: Promise<void>
  readonly free: () => void
  readonly decode: (bytes: Uint8Array) => Promise<PushCodecOutput>
  readonly flush: () => Promise<PushCodecOutput>
}

interface PushCodecOutput {
  readonly channelData: ReadonlyArray<Float32Array>
  readonly samplesDecoded: number
  readonly sampleRate: number
}

/** FLAC frames of silence hold 65,535 samples in a dozen bytes: small pieces keep such a file small. */
export const makeFlacDecoder = (): Promise<AudioDecoder> => pushDecoder("FLAC", new FLACDecoder(), 1024)

/** Vorbis in Ogg. */
export const makeOggVorbisDecoder = (): Promise<AudioDecoder> => pushDecoder("Vorbis", new OggVorbisDecoder(), 8192)

const pushDecoder = async (name: string, codec: PushCodec, pieceBytes: number): Promise<AudioDecoder> => {
  await codec.ready
  let sounded = false
  const mono = ({ channelData, sampleRate, samplesDecoded }: PushCodecOutput): ReadonlyArray<Decoded> => {
    if (samplesDecoded <= 0) return []
    sounded = true
    return [{ sampleRate, samples: monoOf(channelData, samplesDecoded) }]
  }
  return {
    pieceBytes,
    decode: async (bytes) => mono(await codec.decode(bytes)),
    finish: async () => {
      const rest = mono(await codec.flush())
      if (!sounded) throw new DecodeFault("Damaged", `${name}: no frame could be decoded`)
      return rest
    },
    close: () => codec.free()
  }
}
