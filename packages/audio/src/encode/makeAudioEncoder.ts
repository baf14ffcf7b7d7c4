// The one factory of streaming encoders. Codecs are compiled once per thread, so the first encoder of a kind costs
// some ten milliseconds and the next ones less than two.
import type { AudioEncoder } from "./AudioEncoder.ts"
import { makeMp3Encoder } from "./Mp3Encoder.ts"
import { makeOggOpusEncoder } from "./OggOpusEncoder.ts"
import type { OutputFormat } from "./OutputFormat.ts"
import { makePcmEncoder, makeWavEncoder } from "./PcmEncoder.ts"

/** The encoder of a format. Rejects when its codec cannot be loaded. */
export const makeAudioEncoder = async (format: OutputFormat): Promise<AudioEncoder> => {
  switch (format.codec) {
    case "mp3":
      return makeMp3Encoder(format)
    case "opus":
      return makeOggOpusEncoder(format)
    case "wav":
      return makeWavEncoder(format)
    case "pcm":
      return makePcmEncoder(format)
  }
}
