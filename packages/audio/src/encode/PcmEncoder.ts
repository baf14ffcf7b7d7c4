// Samples as they are: raw, or behind a WAV header whose sizes are placeholders. Nothing is ever held back.
import { pcmBytes, wavHeader } from "../Wav.ts"
import type { AudioEncoder } from "./AudioEncoder.ts"
import type { OutputFormat } from "./OutputFormat.ts"

type Pcm = Extract<OutputFormat, { codec: "pcm" }>
type Wav = Extract<OutputFormat, { codec: "wav" }>

const nothing = () => new Uint8Array(0)

/** Headerless 16-bit little-endian samples. */
export const makePcmEncoder = (format: Pcm): AudioEncoder => ({
  format,
  encode: (samples) => pcmBytes(samples).slice(),
  drain: () => ({ bytes: nothing(), padding: 0 }),
  finish: nothing,
  close: () => {}
})

/** The header comes with the first samples, or alone at the end of an empty file. */
export const makeWavEncoder = (format: Wav): AudioEncoder => {
  let header = wavHeader(format.sampleRate)
  const behindHeader = (bytes: Uint8Array): Uint8Array => {
    const all = new Uint8Array(header.length + bytes.length)
    all.set(header)
    all.set(bytes, header.length)
    header = nothing()
    return all
  }
  return {
    format,
    encode: (samples) => (samples.length === 0 ? nothing() : behindHeader(pcmBytes(samples))),
    drain: () => ({ bytes: nothing(), padding: 0 }),
    finish: () => behindHeader(nothing()),
    close: () => {}
  }
}
