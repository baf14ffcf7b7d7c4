// Real speech for end-to-end tests: text through the real Flite, as 16 kHz samples for a fake microphone.
// Synchronous and without a worker thread: for tests and scripts, never for the product.
import { parseWav } from "@parley/audio/Wav"
import { loadFlite, outputName } from "../flite/FliteProgram.ts"
import type { FliteProgram } from "../flite/FliteProgram.ts"
import { spokenText } from "../flite/SpokenText.ts"

let loaded: FliteProgram | undefined

/** Mono 16 kHz PCM. `voice` is one of `slt`, `rms`, `awb`, `kal16`. Throws when there is nothing to say. */
export const speakToWav = (text: string, voice = "rms"): Int16Array => {
  const spoken = spokenText(text)
  if (spoken._tag !== "Sayable") throw new Error("no speakable character in the text")
  loaded ??= loadFlite()
  const said = spoken.pieces
    .flat()
    .map((token) => token.spoken)
    .join(" ")
  return parseWav(loaded.run(["-voice", voice, "-t", ` ${said} `, "-o", outputName]).file).samples
}

/** `silenceMs` of nothing before, between and after the parts, in one signal. */
export const withSilence = (parts: ReadonlyArray<Int16Array>, silenceMs: number): Int16Array => {
  const gap = Math.round(silenceMs * 16)
  const out = new Int16Array(parts.reduce((sum, part) => sum + part.length + gap, gap))
  let at = gap
  for (const part of parts) {
    out.set(part, at)
    at += part.length + gap
  }
  return out
}
