// One short thing said in a new voice, to be played where voices are shown: an MP3, kept as a blob. A voice without a
// sample is a voice: what cannot be said in time is left out.
import type { VoiceCharacter } from "@parley/speech/ports/VoiceCharacter"
import type { Synthesis, SynthesisSettings } from "@parley/speech/Synthesis"
import { Effect, Schema, Stream } from "effect"
import { createWriteStream } from "node:fs"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { Blobs } from "../storage/Blobs.ts"

/** A sample as stored. */
export const KeptSample = Schema.Struct({
  title: Schema.String,
  text: Schema.String,
  /** Name of a blob: an MP3. */
  blob: Schema.String
})
export type KeptSample = typeof KeptSample.Type

const withinMs = 15_000
const longest = 200
const nothingSaid = "Hello, this is my voice. I am glad to meet you."

/** Says what was said in the recordings, where that is known. */
export const keepSample = (
  blobs: Blobs["Service"],
  synthesis: Synthesis["Service"],
  character: VoiceCharacter,
  said: string
): Effect.Effect<KeptSample | undefined> => {
  const text = said.trim().slice(0, longest).toWellFormed() || nothingSaid
  return blobs
    .write("samples", (path) =>
      synthesis.speak(settings(character), Stream.make({ _tag: "Text", text })).pipe(
        Stream.flatMap((event) => (event._tag === "Audio" ? Stream.make(event.bytes) : Stream.empty)),
        Stream.runCollect,
        Effect.filterOrFail((chunks) => chunks.length > 0),
        Effect.flatMap((chunks) =>
          Effect.promise(() => pipeline(Readable.from(chunks), createWriteStream(path, { mode: 0o600 })))
        )
      )
    )
    .pipe(
      Effect.timeout(withinMs),
      Effect.map(({ name }) => ({ title: "Default Sample", text, blob: name })),
      Effect.catch(() => Effect.succeed(undefined))
    )
}

const settings = (character: VoiceCharacter): SynthesisSettings => ({
  voices: [{ id: "", character }],
  language: "",
  format: { codec: "mp3", sampleRate: 44100, kbps: 128 },
  speed: 1,
  volumeDb: 0,
  normalizeLoudness: true,
  normalize: true,
  latency: "normal",
  chunkLength: 200,
  minChunkLength: 50,
  cues: "none",
  timing: false,
  extra: {}
})
