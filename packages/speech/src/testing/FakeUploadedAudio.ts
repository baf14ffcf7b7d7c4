// Uploads that are mono 16-bit WAV files, read whole and cut into blocks: no decoder, no threads. For tests of
// what lies behind the upload.
import { readFileSync } from "node:fs"
import { Effect, Layer, Stream } from "effect"
import { resample } from "@parley/audio/Resampler"
import { parseWav } from "@parley/audio/Wav"
import { AudioFault, UploadedAudio } from "../upload/UploadedAudio.ts"

/** `blockMs`: length of the blocks. Default 1000. `toWav` and `examine` are not there: they refuse. */
export const fakeUploadedAudio = (blockMs = 1000): Layer.Layer<UploadedAudio> =>
  Layer.succeed(UploadedAudio, {
    pcm: (file, sampleRate) =>
      Stream.unwrap(
        Effect.map(read(file), (wav) => {
          const samples = resample(wav.samples, wav.sampleRate, sampleRate)
          const size = (sampleRate * blockMs) / 1000
          const blocks = Math.ceil(samples.length / size)
          return Stream.range(0, blocks - 1).pipe(Stream.map((i) => samples.subarray(i * size, (i + 1) * size)))
        })
      ),
    toWav: () => refusal,
    examine: () => refusal
  })

const read = (file: string) =>
  Effect.try({
    try: () => parseWav(readFileSync(file)),
    catch: () => new AudioFault({ reason: "NotAudio", message: "not a WAV file" })
  })

const refusal = Effect.fail(new AudioFault({ reason: "Unsupported", message: "not part of this fake" }))
