// The one factory of streaming decoders, by container.
import { DecodeFault } from "./AudioDecoder.ts"
import type { AudioDecoder } from "./AudioDecoder.ts"
import type { Container } from "./containerOf.ts"
import { makeFlacDecoder, makeMp3Decoder, makeOggVorbisDecoder, makeWavDecoder } from "./FileDecoders.ts"
import { makeOggOpusDecoder } from "./OggOpusDecoder.ts"
import { makeWebmDecoder } from "./WebmDecoder.ts"

/** `wantedRate`: what the samples will be converted to; a hint. Throws a `DecodeFault` for what is not read here. */
export const makeAudioDecoder = async (container: Container, wantedRate: number): Promise<AudioDecoder> => {
  switch (container) {
    case "wav":
      return makeWavDecoder()
    case "mp3":
      return makeMp3Decoder()
    case "flac":
    case "ogg-flac":
      return makeFlacDecoder()
    case "ogg-vorbis":
      return makeOggVorbisDecoder()
    case "ogg-opus":
      return makeOggOpusDecoder(wantedRate)
    case "webm":
      return makeWebmDecoder(wantedRate)
    case "ogg-other":
      throw new DecodeFault("Unsupported", "Ogg with something other than Opus, Vorbis or FLAC is not read")
    case "mp4":
    case "aac":
      throw new DecodeFault("Unsupported", "M4A, MP4 and AAC are not read without ffmpeg")
    case "unknown":
      throw new DecodeFault("NotAudio", "not a WAV, MP3, FLAC, Ogg, WebM or M4A file")
  }
}
