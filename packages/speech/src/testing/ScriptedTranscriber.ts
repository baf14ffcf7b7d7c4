// A transcriber that "hears" a script. Loud audio pushed to it uncovers the next utterance word by word;
// a commit answers with that utterance's text after a chosen delay on the Effect Clock. A commit without
// loud audio answers with empty text and leaves the script where it is, as does `discard`.
import { Effect, Queue } from "effect"
import type { SpokenWord, Transcriber, TranscriptionOptions } from "../ports/Transcriber.ts"
import type { SpeechError } from "../ports/SpeechError.ts"

export interface ScriptedUtterance {
  /** Empty for a noise without words. */
  readonly text: string
  /** From commit to Final; `Infinity` never answers. */
  readonly finalMs?: number
  /** The stream dies once this much loud audio of this utterance was pushed. */
  readonly fail?: { readonly afterMs: number; readonly error: SpeechError }
}

export interface ScriptedTranscriber extends Transcriber {
  /** Options of every successful `open`, in order. */
  readonly opened: ReadonlyArray<TranscriptionOptions>
  /** Streams open now. */
  readonly running: () => number
  /** Kills every open stream. */
  readonly die: (error: SpeechError) => void
}

export const makeScriptedTranscriber = (options: {
  /** Shared by all streams of this transcriber, so that a reopened stream goes on with the script. */
  readonly utterances: ReadonlyArray<string | ScriptedUtterance>
  /** From commit to Final. Default 150. */
  readonly finalMs?: number
  /** Loud audio that uncovers one word. Default 250. */
  readonly msPerWord?: number
  /** False: no partials. Default true. */
  readonly streaming?: boolean
  readonly provider?: string
  /** A failure for the n-th `open`, counted from 0. */
  readonly openFailure?: (index: number) => SpeechError | undefined
}): ScriptedTranscriber => {
  const script = options.utterances.map((entry) => (typeof entry === "string" ? { text: entry } : entry))
  const streaming = options.streaming ?? true
  const msPerWord = options.msPerWord ?? 250
  const opened: Array<TranscriptionOptions> = []
  const live = new Set<(error: SpeechError) => void>()
  let attempts = 0
  let next = 0
  return {
    provider: options.provider ?? "scripted",
    streaming,
    opened,
    running: () => live.size,
    die: (error) => {
      for (const die of live) die(error)
    },
    open: Effect.fnUntraced(function* (opening) {
      const refusal = options.openFailure?.(attempts++)
      if (refusal !== undefined) return yield* refusal
      const commits = yield* Queue.unbounded<{ readonly finalMs: number; readonly final: Final }>()
      let samples = 0
      let loud = 0
      let shown = 0
      const die = (error: SpeechError): void => {
        if (live.delete(die)) opening.onFailure(error)
      }
      live.add(die)
      opened.push(opening)
      yield* Effect.addFinalizer(() => Effect.sync(() => live.delete(die)))
      yield* Queue.take(commits).pipe(
        Effect.tap(({ finalMs }) => (Number.isFinite(finalMs) ? Effect.sleep(finalMs) : Effect.never)),
        Effect.tap(({ final }) => Effect.sync(() => live.has(die) && opening.onEvent(final))),
        Effect.forever,
        Effect.forkScoped
      )
      const forget = () => {
        samples = 0
        loud = 0
        shown = 0
      }
      return {
        push: (pushed) => {
          if (!live.has(die)) return
          samples += pushed.length
          if (isLoud(pushed)) loud += pushed.length
          const entry = script[next]
          if (entry === undefined) return
          if (entry.fail !== undefined && loud >= entry.fail.afterMs * 16) {
            next++
            return die(entry.fail.error)
          }
          const heard = Math.min(wordsOf(entry.text).length, Math.floor(loud / (msPerWord * 16)))
          if (!streaming || heard <= shown) return
          shown = heard
          opening.onEvent({ _tag: "Partial", text: wordsOf(entry.text).slice(0, heard).join(" ") })
        },
        commit: () => {
          const entry = loud > 0 ? script[next++] : undefined
          const finalMs = entry?.finalMs ?? options.finalMs ?? 150
          Queue.offerUnsafe(commits, { finalMs, final: finalOf(entry?.text ?? "", samples / 16) })
          forget()
        },
        discard: forget
      }
    })
  }
}

interface Final {
  readonly _tag: "Final"
  readonly text: string
  readonly words: ReadonlyArray<SpokenWord>
}

const finalOf = (text: string, lengthMs: number): Final => {
  const words = wordsOf(text)
  const each = lengthMs / Math.max(1, words.length)
  return {
    _tag: "Final",
    text,
    words: words.map((word, i) => ({ text: word, startMs: Math.round(i * each), endMs: Math.round((i + 1) * each) }))
  }
}

const wordsOf = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter((word) => word !== "")

const isLoud = (samples: Int16Array): boolean => samples.some((sample) => sample > 500 || sample < -500)
