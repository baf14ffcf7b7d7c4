// The forms in which the API gives out speech: always mono, each codec with
// the rates and bit rates it is offered at.

/** A codec with its sample rate in Hz and its bit rate. */
export type OutputFormat =
  | { readonly codec: "mp3"; readonly sampleRate: 32000 | 44100; readonly kbps: 64 | 128 | 192 }
  /** RIFF with placeholder sizes: the length of a stream is not known before its end. */
  | { readonly codec: "wav"; readonly sampleRate: PcmRate }
  /** Little-endian signed 16 bit without a container. */
  | { readonly codec: "pcm"; readonly sampleRate: PcmRate }
  /** Ogg (RFC 7845). `bitsPerSecond` undefined: automatic. */
  | { readonly codec: "opus"; readonly sampleRate: 48000; readonly bitsPerSecond: number | undefined }

/** Hz. */
export type PcmRate = 8000 | 16000 | 24000 | 32000 | 44100

/** The MIME type that HTTP names it by. */
export const contentTypeOf = (format: OutputFormat): string => contentTypes[format.codec]

const contentTypes: Readonly<Record<OutputFormat["codec"], string>> = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  pcm: "audio/pcm",
  opus: "audio/ogg"
}
