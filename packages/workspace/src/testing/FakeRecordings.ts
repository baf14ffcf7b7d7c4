// Recordings without sound, for tests of what is done with them: a file holds text. `silent...` and `text...` are
// refused, anything else lasts a tenth of a second for each byte; `mumbled...` fails to be recognised, `endless...`
// never is, everything else is heard as `heard` and its text. What is spoken is `sound of` the voice's first reference,
// except for `dumb...` ones, which cannot.
import { SpeechError } from "@parley/speech/ports/SpeechError"
import { Recognition } from "@parley/speech/Recognition"
import { AudioFault, UploadedAudio, type VoiceExamination } from "@parley/speech/upload/UploadedAudio"
import { Synthesis } from "@parley/speech/Synthesis"
import { Effect, Layer, Stream } from "effect"
import { readFileSync, writeFileSync } from "node:fs"

const examine = (file: string): Effect.Effect<VoiceExamination, AudioFault> =>
  Effect.suspend(() => {
    const text = readFileSync(file, "utf8")
    if (text.startsWith("silent")) return new AudioFault({ reason: "Silent", message: "the recording is silent" })
    if (text === "" || text.startsWith("text"))
      return new AudioFault({ reason: "NotAudio", message: "this is no audio" })
    const durationMs = text.length * 100
    return Effect.succeed({
      durationMs,
      voicedMs: durationMs / 2,
      levelDbfs: -20,
      peakDbfs: Number.NEGATIVE_INFINITY,
      clipped: 0,
      profile: { pitchHz: text.length, pitchSpreadHz: 10, pace: 1, tract: 1, colour: [] }
    })
  })

/** Files of text in place of recordings. */
export const fakeUploads: Layer.Layer<UploadedAudio> = Layer.succeed(UploadedAudio, {
  pcm: () => Stream.empty,
  toWav: (file, wav) =>
    Effect.tap(
      Effect.map(examine(file), ({ durationMs }) => ({ durationMs })),
      () => Effect.sync(() => writeFileSync(wav, `wav of ${readFileSync(file, "utf8")}`))
    ),
  examine
})

/** Hears the text of the file. */
export const fakeRecognition: Layer.Layer<Recognition> = Layer.succeed(Recognition, {
  recognise: ({ file }) =>
    Effect.suspend(() => {
      const text = readFileSync(file, "utf8")
      if (text.startsWith("endless")) return Effect.never
      if (text.startsWith("mumbled")) {
        return new SpeechError({ reason: "Unavailable", provider: "fake", message: "no recogniser" })
      }
      return Effect.succeed({ text: `heard ${text}`, durationMs: text.length * 100, words: [], language: "en" })
    })
})

/** Speaks the text of the voice's first reference. */
export const fakeSynthesis: Layer.Layer<Synthesis> = Layer.succeed(Synthesis, {
  speak: ({ voices: [voice] }) =>
    Stream.suspend(() => {
      const reference = readFileSync(voice.character?.references[0]?.file ?? "", "utf8")
      if (reference.includes("dumb")) {
        return Stream.fail(new SpeechError({ reason: "Unavailable", provider: "fake", message: "no voice" }))
      }
      return Stream.make({ _tag: "Audio", chunk: 0, offsetMs: 0, bytes: Buffer.from(`sound of ${reference}`) })
    })
})
