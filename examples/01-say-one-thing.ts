// Say one thing into a WAV file, with the embedded voice:
//   node examples/01-say-one-thing.ts "Good morning." morning.wav
import { encodeWav } from "@parley/audio/Wav"
import { Speech } from "@parley/speech/Speech"
import { Effect, Stream } from "effect"
import { writeFileSync } from "node:fs"

const [text = "Hello, this is Parley.", file = "hello.wav"] = process.argv.slice(2)

const main = Effect.gen(function* () {
  const { synthesizer } = yield* Speech
  const chunks = yield* Stream.runCollect(
    synthesizer.synthesize({ text, voice: "slt", speed: 1, language: "en", urgent: true })
  )
  const audio = chunks.flatMap((chunk) => (chunk._tag === "Audio" ? [chunk] : []))
  const samples = Int16Array.from(audio.flatMap((chunk) => [...chunk.samples]))
  const sampleRate = audio[0]?.sampleRate ?? 16_000
  writeFileSync(file, encodeWav(samples, sampleRate))
  console.log(`${file}: ${(samples.length / sampleRate).toFixed(1)} s`)
  for (const chunk of chunks) {
    if (chunk._tag === "Words")
      for (const word of chunk.words) console.log(`${Math.round(word.startMs)} ms  ${word.text}`)
  }
})

await Effect.runPromise(Effect.provide(main, Speech.layer({ tts: ["flite"], asr: [] })))
