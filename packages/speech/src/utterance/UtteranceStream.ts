// A transcription stream over a recogniser that takes whole utterances: each is kept until its commit and handed over
// then; answers come in the order of the commits. Utterances without sound are answered empty without asking, because
// such models invent words for silence.
import { Effect, Queue } from "effect"
import type { Scope } from "effect"
import { peak } from "@parley/audio/Level"
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpokenWord, TranscriptionOptions, TranscriptionStream } from "../ports/Transcriber.ts"
import { UtteranceBuffer } from "./UtteranceBuffer.ts"

/** Mono 16 kHz; `droppedMs` of its beginning were not kept. */
export type Utterance = ReturnType<UtteranceBuffer["take"]>

/** What was said in one utterance; word times in milliseconds from its first sample. */
export interface Transcript {
  readonly text: string
  readonly words: ReadonlyArray<SpokenWord>
  readonly language?: string
}

/** Commits waiting for their turn; one more kills the stream as `Overloaded`. */
const mostWaiting = 8
/** Below -50 dBFS at its loudest, or shorter than 100 ms, nothing was said. */
const quietest = 0.003
const shortestMs = 100

/** Each commit is transcribed after the one before; a failure of `transcribe` ends the stream. */
export const openUtterances = Effect.fnUntraced(function* (
  provider: string,
  options: TranscriptionOptions,
  transcribe: (utterance: Utterance) => Effect.Effect<Transcript, SpeechError>
): Effect.fn.Return<TranscriptionStream, never, Scope.Scope> {
  const buffer = new UtteranceBuffer()
  const commits = yield* Effect.acquireRelease(Queue.dropping<Utterance>(mostWaiting), Queue.shutdown)
  let dead = false
  const die = (error: SpeechError) => {
    if (dead) return
    dead = true
    Queue.shutdownUnsafe(commits)
    options.onFailure(error)
  }
  yield* Queue.take(commits).pipe(
    Effect.flatMap((utterance) => (isSilent(utterance) ? Effect.succeed(nothing) : transcribe(utterance))),
    Effect.tap((final) => Effect.sync(() => dead || options.onEvent({ _tag: "Final", ...final }))),
    Effect.forever,
    Effect.catch((error) => Effect.sync(() => die(error))),
    Effect.forkScoped
  )
  return {
    push: (samples) => buffer.push(samples),
    discard: () => buffer.take(),
    commit: () => {
      const taken = Queue.offerUnsafe(commits, buffer.take())
      // Refused also when the scope is closed: then nobody listens.
      if (taken || Queue.sizeUnsafe(commits) < mostWaiting) return
      die(new SpeechError({ reason: "Overloaded", provider, message: "too many utterances waiting" }))
    }
  }
})

const nothing: Transcript = { text: "", words: [] }

const isSilent = ({ samples }: Utterance): boolean => samples.length < shortestMs * 16 || peak(samples) < quietest
