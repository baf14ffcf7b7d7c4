// Flite behind the synthesizer port: English, four voices, 16 kHz, with word times. Audio leaves before the
// words are aligned: pronunciations are asked for (once per word and process) after it was handed on. A voice that
// was learnt is adapted, as far as its profile goes.
import { Effect, Stream } from "effect"
import type { Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechChunk, SynthesisRequest, Synthesizer, VoiceInfo, WordTime } from "../ports/Synthesizer.ts"
import { adaptedVoice } from "./AdaptedVoice.ts"
import type { FliteAnswer, FliteVoice } from "./FliteJob.ts"
import { makeFliteWorkers } from "./FliteWorkers.ts"
import type { FliteWorkers, FliteWorkersOptions } from "./FliteWorkers.ts"
import { makePronunciations } from "./Pronunciations.ts"
import type { Pronunciations } from "./Pronunciations.ts"
import { spokenText } from "./SpokenText.ts"
import type { SpokenToken } from "./SpokenText.ts"
import { alignWords } from "./WordAlignment.ts"

export const fliteVoices: ReadonlyArray<VoiceInfo> = [
  { id: "slt", name: "SLT (female, US)", language: "en" },
  { id: "rms", name: "RMS (male, US)", language: "en" },
  { id: "awb", name: "AWB (male, Scottish)", language: "en" },
  { id: "kal16", name: "KAL (male, US, diphone)", language: "en" }
]

const chunkMs = 100

/** Its threads start in the background and are stopped with the scope. */
export const makeFliteSynthesizer: (options?: FliteWorkersOptions) => Effect.Effect<Synthesizer, never, Scope.Scope> =
  Effect.fnUntraced(function* (options) {
    const workers = yield* makeFliteWorkers(options)
    const pronunciations = makePronunciations(workers)
    return {
      provider: "flite",
      voices: fliteVoices,
      synthesize: (request) => Stream.suspend(() => synthesize(request, workers, pronunciations))
    }
  })

const synthesize = (
  request: SynthesisRequest,
  workers: FliteWorkers,
  pronunciations: Pronunciations
): Stream.Stream<SpeechChunk, SpeechError> => {
  if (!isEnglish(request.language)) return Stream.fail(failure("LanguageNotSupported", "the voice speaks English only"))
  const text = spokenText(request.text)
  if (text._tag === "NotSayable") return Stream.fail(failure("LanguageNotSupported", "no speakable character"))
  const words: Array<WordTime> = []
  let endMs = 0
  return Stream.fromIterable(text.pieces).pipe(
    Stream.flatMap((piece) =>
      Stream.unwrap(
        Effect.map(speak(piece, request, workers), (spoken) => {
          const startMs = endMs
          endMs += (spoken.samples.length * 1000) / spoken.sampleRate
          const aligned = Effect.map(pronunciations.of(piece), (known) => {
            words.push(...timesOf(piece, spoken, known, startMs))
            return { _tag: "Words", words: [...words] } as const
          })
          const audio = Stream.fromIterable(chunksOf(spoken))
          return request.words === false ? audio : Stream.concat(audio, Stream.fromEffect(aligned))
        })
      )
    )
  )
}

type Spoken = Extract<FliteAnswer, { readonly _tag: "Spoken" }>

const speak = Effect.fnUntraced(function* (
  piece: ReadonlyArray<SpokenToken>,
  request: SynthesisRequest,
  workers: FliteWorkers
): Effect.fn.Return<Spoken, SpeechError> {
  const text = piece.map((token) => token.spoken).join(" ")
  const answer = yield* workers.run({ _tag: "Speak", text, voice: voiceFor(request) }, request.urgent)
  if (answer._tag !== "Spoken" || answer.samples.length === 0) return yield* failure("InvalidOutput", "no audio")
  return answer
})

const voiceFor = (request: SynthesisRequest): FliteVoice => {
  const stretch = 1 / Math.min(2, Math.max(0.5, request.speed))
  const profile = request.character?.profile
  if (profile === undefined) {
    return { voice: fliteVoices.find((known) => known.id === request.voice)?.id ?? "slt", stretch }
  }
  const adapted = adaptedVoice(profile, request.voice)
  return { ...adapted, stretch: adapted.stretch * stretch }
}

const timesOf = (
  piece: ReadonlyArray<SpokenToken>,
  spoken: Spoken,
  known: ReadonlyArray<ReadonlyArray<string> | undefined>,
  startMs: number
): ReadonlyArray<WordTime> =>
  alignWords(
    piece.map((token) => token.spoken),
    spoken.phones,
    known
  ).map((span, i) => ({
    text: piece[i]!.text,
    from: piece[i]!.from,
    to: piece[i]!.to,
    startMs: startMs + span.startMs,
    endMs: startMs + span.endMs,
    exact: span.exact
  }))

const chunksOf = ({ sampleRate, samples }: Spoken): ReadonlyArray<SpeechChunk> => {
  const size = (sampleRate * chunkMs) / 1000
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, i) => ({
    _tag: "Audio",
    samples: samples.subarray(i * size, (i + 1) * size),
    sampleRate
  }))
}

const isEnglish = (language: string): boolean => /^(en([-_].*)?|auto|)$/i.test(language)

const failure = (reason: "LanguageNotSupported" | "InvalidOutput", message: string): SpeechError =>
  new SpeechError({ reason, provider: "flite", message })
