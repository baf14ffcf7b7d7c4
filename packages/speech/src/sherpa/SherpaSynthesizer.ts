// A voice of the user's own, run by sherpa-onnx, behind the synthesizer port. One engine, one phrase at a time, with
// estimated word times, since the engines give none. ZipVoice speaks like a voice's references: it clones.
import { readFile } from "node:fs/promises"
import { Effect, Option, Stream } from "effect"
import type { Scope } from "effect"
import type { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechChunk, SynthesisRequest, Synthesizer } from "../ports/Synthesizer.ts"
import { estimateWords } from "../WordEstimate.ts"
import type { SpeechOrder } from "./SherpaMessage.ts"
import { failure, makeEngineJobs, provider } from "./sherpaProcess.ts"
import type { EngineJobs, SherpaOptions } from "./sherpaProcess.ts"
import { speechErrorOf } from "../workers/speechErrorOf.ts"
import type { SynthesisModel } from "./SynthesisModel.ts"

/** A synthesizer that can say why it is not there. */
export interface SherpaSynthesizer extends Synthesizer {
  /** Why the engine is not there just now, for people. */
  readonly fault: () => string | undefined
}

const chunkMs = 100

/** Its process starts in the background and is killed with the scope. */
export const makeSherpaSynthesizer = Effect.fnUntraced(function* (
  model: SynthesisModel,
  options: SherpaOptions = {}
): Effect.fn.Return<SherpaSynthesizer, never, Scope.Scope> {
  const jobs = yield* makeEngineJobs(
    { _tag: "Synthesise", model: model.config, threads: options.threads ?? 2 },
    options
  )
  return {
    provider,
    clones: model.kind === "zipvoice",
    voices: model.speakers.map((id) => ({ id, name: id, language: model.language })),
    fault: jobs.fault,
    synthesize: (request) => Stream.unwrap(speak(model, jobs, request))
  }
})

const speak = Effect.fnUntraced(function* (model: SynthesisModel, jobs: EngineJobs, request: SynthesisRequest) {
  const order = yield* orderOf(model, request)
  const answers = yield* Effect.mapError(jobs.submit({ _tag: "Speak", order }, request.urgent), speechErrorOf(provider))
  let lengthMs = 0
  const sound = Stream.fromQueue(answers).pipe(
    Stream.mapError(speechErrorOf(provider)),
    Stream.flatMap((answer) => {
      if (answer._tag === "Failed") return Stream.fail(failure("InvalidOutput", "the engine refused its work"))
      if (answer._tag !== "Sound") return Stream.empty
      lengthMs += (answer.samples.length * 1000) / answer.sampleRate
      return Stream.fromIterable(chunksOf(answer.samples, answer.sampleRate))
    })
  )
  const end: Effect.Effect<Option.Option<SpeechChunk>, SpeechError> = Effect.suspend(() => {
    if (lengthMs === 0) return Effect.fail(failure("InvalidOutput", "no audio"))
    const words = request.words === false ? [] : estimateWords(request.text, lengthMs)
    return Effect.succeed(words.length === 0 ? Option.none() : Option.some({ _tag: "Words", words }))
  })
  const words = Stream.unwrap(
    Effect.map(end, (chunk) => (Option.isSome(chunk) ? Stream.make(chunk.value) : Stream.empty))
  )
  return Stream.concat(sound, words)
})

const orderOf = Effect.fnUntraced(function* (
  model: SynthesisModel,
  request: SynthesisRequest
): Effect.fn.Return<SpeechOrder, SpeechError> {
  const steps = request.extra?.["num_steps"]
  const plain = {
    text: request.text,
    speaker: Math.max(0, model.speakers.indexOf(request.voice)),
    speed: Math.min(2, Math.max(0.5, request.speed)),
    ...(typeof steps === "number" && Number.isInteger(steps) && steps > 0 && steps <= 64 ? { steps } : {})
  }
  if (model.reference === undefined) return plain
  const { file, text } = request.character?.references[0] ?? model.reference
  // Read here: the engine's process may not.
  const wav = yield* Effect.tryPromise({
    try: () => readFile(file),
    catch: () => failure("InvalidOutput", "the reference of the voice cannot be read")
  })
  return { ...plain, reference: { wav, text } }
})

const chunksOf = (samples: Int16Array, sampleRate: number): ReadonlyArray<SpeechChunk> => {
  const size = (sampleRate * chunkMs) / 1000
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, i) => ({
    _tag: "Audio",
    samples: samples.subarray(i * size, (i + 1) * size),
    sampleRate
  }))
}
