// The codecs of the telephone behind one face: payloads to 16 kHz frames, frames to payloads.
import { decodeALaw, decodeMuLaw, encodeALaw, encodeMuLaw } from "@parley/audio/G711"
import { makeOpusDecoder } from "@parley/audio/opus/OpusDecoder"
import { makeOpusEncoder } from "@parley/audio/opus/OpusEncoder"
import { Resampler } from "@parley/audio/Resampler"
import { hearingRate } from "@parley/engine/leg/Leg"
import type { VoiceDecoder } from "./RtpReceiver.ts"
import type { VoiceCodec as VoiceCodecName } from "./negotiation.ts"

/** A codec of one call, with the state of both directions. */
export interface VoiceCodec extends VoiceDecoder {
  /** Of the RTP timestamps. */
  readonly clockRate: number
  /** Of the frames given to `encode`: 20 ms each. */
  readonly playRate: number
  /** Into `out`; returns how many bytes. */
  readonly encode: (frame: Int16Array, out: Buffer) => number
  readonly close: () => void
}

/** G.711 by tables; Opus loads its WebAssembly on first use. */
export const makeVoiceCodec = (name: VoiceCodecName): Promise<VoiceCodec> =>
  name === "opus" ? opus() : Promise.resolve(g711(name))

const playRate = 24_000

const opus = async (): Promise<VoiceCodec> => {
  const decoder = await makeOpusDecoder({ sampleRate: hearingRate })
  const encoder = await makeOpusEncoder({ sampleRate: playRate })
  return {
    clockRate: 48_000,
    playRate,
    decode: decoder.decode,
    recover: decoder.recover,
    conceal: decoder.conceal,
    encode: (frame, out) => {
      const packet = encoder.encode(frame)
      out.set(packet)
      return packet.length
    },
    close: () => {
      decoder.close()
      encoder.close()
    }
  }
}

const narrowRate = 8000
/** 20, 40, 60 ms of the last sound, each quieter; then silence (after ITU-T G.711 Appendix I). */
const concealGains = [0.7, 0.4, 0.15]
/** The longest packet that is taken: 120 ms. */
const mostSamples = 960

const g711 = (name: "pcmu" | "pcma"): VoiceCodec => {
  const [encode, decode] = name === "pcmu" ? [encodeMuLaw, decodeMuLaw] : [encodeALaw, decodeALaw]
  const resampler = new Resampler(narrowRate, hearingRate)
  const narrow = new Int16Array(mostSamples)
  let last = new Int16Array(narrowRate / 50)
  let concealed = 0

  const conceal = (samples: number): Int16Array => {
    const gain = concealGains[concealed++] ?? 0
    const guess = narrow.subarray(0, Math.min(mostSamples, samples / 2))
    for (let i = 0; i < guess.length; i++) guess[i] = (last[i % last.length] ?? 0) * gain
    return resampler.process(guess)
  }
  return {
    clockRate: narrowRate,
    playRate: narrowRate,
    decode: (payload) => {
      if (payload.length === 0 || payload.length > mostSamples) return undefined
      const samples = narrow.subarray(0, payload.length)
      decode(payload, samples)
      if (last.length !== samples.length) last = new Int16Array(samples.length)
      last.set(samples)
      concealed = 0
      return resampler.process(samples)
    },
    recover: (_next, samples) => conceal(samples),
    conceal,
    encode: (frame, out) => {
      encode(frame, out.subarray(0, frame.length) as Uint8Array<ArrayBuffer>)
      return frame.length
    },
    close: () => undefined
  }
}
