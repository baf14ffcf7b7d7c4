// A recogniser of the user's own, run by sherpa-onnx, behind the transcriber port. A streaming model works while the
// caller speaks; any other gets each utterance at its commit.
import { Effect, Queue } from "effect"
import type { Scope } from "effect"
import { languageCode } from "../openai/LanguageCode.ts"
import type { SpeechError } from "../ports/SpeechError.ts"
import type { Transcriber } from "../ports/Transcriber.ts"
import { openUtterances } from "../utterance/UtteranceStream.ts"
import type { Transcript, Utterance } from "../utterance/UtteranceStream.ts"
import { makeSupervisedWorker } from "../workers/SupervisedWorker.ts"
import { speechErrorOf } from "../workers/speechErrorOf.ts"
import { engineProcess, failure, makeEngineJobs, provider } from "./sherpaProcess.ts"
import type { EngineJobs, SherpaOptions } from "./sherpaProcess.ts"
import type { RecognitionModel } from "./RecognitionModel.ts"
import { makeStreamingRecognition } from "./StreamingRecognition.ts"
import type { EngineTask, FromRecogniser, ToRecogniser } from "./SherpaMessage.ts"
import { cutAtPauses } from "./cutAtPauses.ts"
import { wordsOf } from "./TokenWords.ts"

/** Sizes and bounds of a recogniser's process. */
export interface SherpaRecognitionOptions extends SherpaOptions {
  /** Callers at once on a streaming model. Default 16. */
  readonly mostStreams?: number
  /** Commit to Final, at most; the length of what was not worked through by then comes on top. Default 5 s. */
  readonly finalMs?: number
}

/** A transcriber that can say why it is not there. */
export interface SherpaTranscriber extends Transcriber {
  /** Why the engine is not there just now, for people. */
  readonly fault: () => string | undefined
}

/** Its process starts in the background and is killed with the scope. */
export const makeSherpaTranscriber = Effect.fnUntraced(function* (
  model: RecognitionModel,
  options: SherpaRecognitionOptions = {}
): Effect.fn.Return<SherpaTranscriber, never, Scope.Scope> {
  const { streaming } = model
  const task: EngineTask = { _tag: "Recognise", model: model.config, streaming, threads: options.threads ?? 2 }
  if (streaming) {
    const file = options.file ?? new URL("./streamingRecogniser.ts", import.meta.url)
    const process = yield* makeSupervisedWorker<ToRecogniser, FromRecogniser>(
      engineProcess(file, task, options.startMs)
    )
    const open = makeStreamingRecognition(process, {
      mostStreams: options.mostStreams ?? 16,
      finalMs: options.finalMs ?? 5000,
      openMs: options.answerMs ?? 20_000
    })
    return { provider, streaming, fault: () => process.fault, open }
  }
  const jobs = yield* makeEngineJobs(task, options)
  return {
    provider,
    streaming,
    fault: jobs.fault,
    // A process that cannot start fails the `open`, where another recogniser can still take the call.
    open: (opening) =>
      jobs.fault() === undefined
        ? openUtterances(provider, opening, (utterance) => transcribe(jobs, model.mostSeconds, utterance))
        : Effect.fail(failure("Unavailable", jobs.fault() ?? "the engine is not there"))
  }
})

const transcribe = Effect.fnUntraced(function* (
  jobs: EngineJobs,
  mostSeconds: number,
  { droppedMs, samples }: Utterance
): Effect.fn.Return<Transcript, SpeechError> {
  const parts: Array<Transcript> = []
  let fromMs = droppedMs
  for (const part of cutAtPauses(samples, mostSeconds * 16_000)) {
    parts.push(yield* transcribePart(jobs, part, fromMs))
    fromMs += part.length / 16
  }
  const language = parts.find((part) => part.language !== undefined)?.language
  return {
    text: parts
      .map((part) => part.text)
      .filter(Boolean)
      .join(" "),
    words: parts.flatMap((part) => part.words),
    ...(language === undefined ? {} : { language })
  }
})

const transcribePart = (
  jobs: EngineJobs,
  samples: Int16Array,
  fromMs: number
): Effect.Effect<Transcript, SpeechError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const answers = yield* Effect.mapError(
        jobs.submit({ _tag: "Transcribe", samples }, true),
        speechErrorOf(provider)
      )
      const ended = failure("InvalidOutput", "no transcript")
      const answer = yield* Queue.take(answers).pipe(
        Effect.mapError((error) => (error._tag === "WorkerFault" ? speechErrorOf(provider)(error) : ended))
      )
      if (answer._tag !== "Transcribed") return yield* ended
      const { hypothesis } = answer
      const language = languageCode(hypothesis.lang?.replaceAll(/[<|>]/g, ""))
      return {
        text: hypothesis.text.trim(),
        words: wordsOf(hypothesis, samples.length / 16, fromMs),
        ...(language === undefined ? {} : { language })
      }
    })
  )
