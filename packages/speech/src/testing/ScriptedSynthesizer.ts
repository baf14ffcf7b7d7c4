// A synthesizer with chosen delays and real audio: a tone whose length follows the text, with word times.
// All waiting goes through the Effect Clock, so a TestClock drives it. It counts what was asked of it and
// how many phrases were interrupted, for tests of barge-in.
import { Effect, Stream } from "effect"
import type { SpeechChunk, SynthesisRequest, Synthesizer, WordTime } from "../ports/Synthesizer.ts"
import type { SpeechError } from "../ports/SpeechError.ts"

export interface SynthesisScript {
  /** From request to the first audio. `Infinity` never answers. Default 150. */
  readonly firstAudioMs: number
  /** Compute time per audio time of the chunks after the first. Default 0: all at once. */
  readonly realtimeFactor: number
  /** Default 24000. */
  readonly sampleRate: number
  /** Length of the tone per character of text, at speed 1. Default 60. */
  readonly msPerCharacter: number
  /** Audio per chunk. Default 100. */
  readonly chunkMs: number
  /** When the `Words` come. Default "after" the audio. */
  readonly words: "before" | "after" | "none"
  /** Fails when this much audio has been given (0: before any). */
  readonly fail?: { readonly afterAudioMs: number; readonly error: SpeechError } | undefined
  /** Ends without a single chunk, which no real port does: for the consumer's own guard. */
  readonly empty?: boolean
}

export interface ScriptedSynthesizer extends Synthesizer {
  readonly requests: ReadonlyArray<SynthesisRequest>
  /** Phrases begun and neither ended, failed nor interrupted. */
  readonly running: () => number
  readonly interrupted: () => number
}

/** `perRequest` changes the script for the n-th request, counted from 0. */
export const makeScriptedSynthesizer = (
  options: Partial<SynthesisScript> & {
    readonly provider?: string
    readonly perRequest?: (request: SynthesisRequest, index: number) => Partial<SynthesisScript> | undefined
  } = {}
): ScriptedSynthesizer => {
  const requests: Array<SynthesisRequest> = []
  let running = 0
  let interrupted = 0
  return {
    provider: options.provider ?? "scripted",
    voices: [{ id: "tone", name: "Tone", language: "en" }],
    requests,
    running: () => running,
    interrupted: () => interrupted,
    synthesize: (request) =>
      Stream.suspend(() => {
        const script = { ...defaults, ...options, ...options.perRequest?.(request, requests.length) }
        requests.push(request)
        running++
        return play(request, script).pipe(
          Stream.onExit((exit) =>
            Effect.sync(() => {
              running--
              if (exit._tag === "Failure" && exit.cause.reasons.some((reason) => reason._tag === "Interrupt")) {
                interrupted++
              }
            })
          )
        )
      })
  }
}

const defaults: SynthesisScript = {
  firstAudioMs: 150,
  realtimeFactor: 0,
  sampleRate: 24000,
  msPerCharacter: 60,
  chunkMs: 100,
  words: "after"
}

const play = (request: SynthesisRequest, script: SynthesisScript): Stream.Stream<SpeechChunk, SpeechError> => {
  const { chunkMs, fail, sampleRate } = script
  const totalMs = script.empty === true ? 0 : (request.text.length * script.msPerCharacter) / request.speed
  const wait = Number.isFinite(script.firstAudioMs) ? Effect.sleep(script.firstAudioMs) : Effect.never
  const words: Stream.Stream<SpeechChunk> =
    totalMs === 0
      ? Stream.empty
      : Stream.succeed({ _tag: "Words", words: wordTimes(request.text, script.msPerCharacter / request.speed) })
  const audio = Stream.unfold(0, (atMs) =>
    Effect.gen(function* () {
      if (fail !== undefined && atMs >= fail.afterAudioMs) return yield* fail.error
      if (atMs >= totalMs) return undefined
      if (atMs > 0) yield* Effect.sleep(chunkMs * script.realtimeFactor)
      const toMs = Math.min(totalMs, atMs + chunkMs)
      return [{ _tag: "Audio", samples: tone(atMs, toMs, sampleRate), sampleRate } satisfies SpeechChunk, toMs] as const
    })
  )
  return Stream.fromEffect(wait).pipe(
    Stream.drain,
    Stream.concat(script.words === "before" ? words : Stream.empty),
    Stream.concat(audio),
    Stream.concat(script.words === "after" ? words : Stream.empty)
  )
}

/** Each word lasts as long as its characters; the blank before it is silence of one character. */
const wordTimes = (text: string, msPerCharacter: number): ReadonlyArray<WordTime> =>
  [...text.matchAll(/\S+/g)].map((match) => ({
    text: match[0],
    from: match.index,
    to: match.index + match[0].length,
    startMs: match.index * msPerCharacter,
    endMs: (match.index + match[0].length) * msPerCharacter,
    exact: true
  }))

const tone = (fromMs: number, toMs: number, sampleRate: number): Int16Array => {
  const first = Math.round((fromMs * sampleRate) / 1000)
  const count = Math.round((toMs * sampleRate) / 1000) - first
  const samples = new Int16Array(count)
  for (let i = 0; i < count; i++) samples[i] = 8000 * Math.sin((2 * Math.PI * 440 * (first + i)) / sampleRate)
  return samples
}
