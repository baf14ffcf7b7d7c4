// A transcriber asked one utterance at a time: pushed, committed, and answered before the next one, so that no
// bound of its queues is ever reached. A stream that dies or does not answer is replaced once per utterance; the
// failover behind the port then serves from another provider.
import { Deferred, Effect, Exit, Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import type { Transcriber, TranscriptEvent } from "../ports/Transcriber.ts"

export type Final = Extract<TranscriptEvent, { readonly _tag: "Final" }>

/** One utterance after another; a stream that fails is opened again, with the next provider if need be. */
export interface TranscriberSession {
  /** At most 25 s of 16 kHz audio. */
  readonly transcribe: (samples: Int16Array) => Effect.Effect<Final, SpeechError>
}

/** Put before and after each utterance: recognisers miss a first word that begins at once. */
const silenceMs = 300
const silenceSamples = silenceMs * 16

/** Longest wait for an answer: this, and this much per second of audio. */
const answerMs = 20_000
const answerMsPerSecond = 3000

/** Opens its first stream when the first utterance comes. */
export const makeTranscriberSession = Effect.fnUntraced(function* (
  transcriber: Transcriber,
  options: { readonly language: string; readonly keyterms: ReadonlyArray<string> }
): Effect.fn.Return<TranscriberSession, never, Scope.Scope> {
  const owner = yield* Effect.scope
  let current: OpenStream | undefined

  const close = Effect.suspend(() => {
    const scope = current?.scope
    current = undefined
    return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
  })

  const attempt = Effect.fnUntraced(function* (samples: Int16Array) {
    current ??= yield* openStream(transcriber, options, owner)
    return yield* Effect.timeoutOrElse(current.ask(samples), {
      duration: answerMs + (samples.length / 16_000) * answerMsPerSecond,
      orElse: () => Effect.fail(failure(transcriber.provider, "Timeout", "no answer to an utterance"))
    })
  })

  return {
    transcribe: (samples) => {
      const framed = new Int16Array(samples.length + 2 * silenceSamples)
      framed.set(samples, silenceSamples)
      const once = Effect.map(
        Effect.tapError(attempt(framed), () => close),
        (final) => unframed(final, samples.length)
      )
      return Effect.catch(once, (error) => (error.canFailOver ? once : Effect.fail(error))).pipe(
        Effect.withSpan("asr.upstream")
      )
    }
  }
})

/** Times count from the first sample that was given. */
const unframed = (final: Final, samples: number): Final => {
  const within = (ms: number) => Math.min(Math.max(0, ms - silenceMs), samples / 16)
  const words = final.words.map(({ endMs, startMs, text }) => ({
    text,
    startMs: within(startMs),
    endMs: within(endMs)
  }))
  return { ...final, words }
}

interface OpenStream {
  readonly scope: Scope.Closeable
  readonly ask: (samples: Int16Array) => Effect.Effect<Final, SpeechError>
}

const openStream = Effect.fnUntraced(function* (
  transcriber: Transcriber,
  options: { readonly language: string; readonly keyterms: ReadonlyArray<string> },
  owner: Scope.Scope
): Effect.fn.Return<OpenStream, SpeechError> {
  const scope = yield* Scope.fork(owner)
  let dead: SpeechError | undefined
  let waiting = Deferred.makeUnsafe<Final, SpeechError>()
  const stream = yield* transcriber
    .open({
      ...options,
      onEvent: (event) => {
        if (event._tag === "Final") Deferred.doneUnsafe(waiting, Effect.succeed(event))
      },
      onFailure: (error) => {
        dead = error
        Deferred.doneUnsafe(waiting, Effect.fail(error))
      }
    })
    .pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  return {
    scope,
    ask: (samples) =>
      Effect.suspend(() => {
        if (dead !== undefined) return Effect.fail(dead)
        waiting = Deferred.makeUnsafe<Final, SpeechError>()
        stream.push(samples)
        // It may die of the samples; then nobody is there to commit to.
        if (!Deferred.isDoneUnsafe(waiting)) stream.commit()
        return Deferred.await(waiting)
      })
  }
})

const failure = (provider: string, reason: "Timeout", message: string): SpeechError =>
  new SpeechError({ reason, provider, message })
