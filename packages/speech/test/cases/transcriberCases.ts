// What every adapter of the transcriber port promises. `hear` is speech the adapter will recognise as
// `expected` words, at least most of them.
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { SpeechError } from "../../src/ports/SpeechError.ts"
import type { TranscriptEvent, TranscriptionOptions, Transcriber } from "../../src/ports/Transcriber.ts"

export interface TranscriptLog {
  readonly events: Array<TranscriptEvent>
  readonly failures: Array<SpeechError>
  readonly options: TranscriptionOptions
}

export const transcriptLog = (language = "en"): TranscriptLog => {
  const events: Array<TranscriptEvent> = []
  const failures: Array<SpeechError> = []
  return {
    events,
    failures,
    options: {
      language,
      keyterms: [],
      onEvent: (event) => events.push(event),
      onFailure: (error) => failures.push(error)
    }
  }
}

export const finals = (events: ReadonlyArray<TranscriptEvent>) => events.filter((event) => event._tag === "Final")

/** Waits in real time, bounded, until `ready`. */
export const until = (ready: () => boolean, withinMs = 10_000): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let waited = 0; !ready() && waited < withinMs; waited += 10) yield* Effect.sleep(10)
    expect(ready()).toBe(true)
  })

/** Pushes as a call does, in 20 ms frames, but faster. */
export const pushAll = (stream: { readonly push: (samples: Int16Array) => void }, samples: Int16Array): void => {
  for (let at = 0; at < samples.length; at += 320) stream.push(samples.slice(at, at + 320))
}

export const transcriberCases = (
  name: string,
  make: Effect.Effect<Transcriber, SpeechError, Scope.Scope>,
  hear: ReadonlyArray<{ readonly samples: Int16Array; readonly expected: string }>
): void => {
  describe(`transcriber port: ${name}`, () => {
    it.live("answers each commit with exactly one final, in order, empty when nothing was said", () =>
      Effect.gen(function* () {
        const transcriber = yield* make
        const { events, failures, options } = transcriptLog()
        const stream = yield* transcriber.open(options)
        for (const { samples } of hear) {
          pushAll(stream, samples)
          stream.commit()
        }
        stream.push(new Int16Array(3200))
        stream.commit()
        stream.commit()
        yield* until(() => finals(events).length === hear.length + 2)
        yield* Effect.sleep(50)
        const texts = finals(events).map((event) => event.text)
        expect(texts).toEqual([...hear.map(() => expect.any(String)), "", ""])
        for (const [i, { expected }] of hear.entries()) expect(recall(expected, texts[i] ?? "")).toBeGreaterThan(0.6)
        expect(failures).toEqual([])
      })
    )

    it.live("times the words from the utterance's first sample", () =>
      Effect.gen(function* () {
        const transcriber = yield* make
        const { events, options } = transcriptLog()
        const stream = yield* transcriber.open(options)
        for (const { samples } of hear) {
          pushAll(stream, samples)
          stream.commit()
        }
        yield* until(() => finals(events).length === hear.length)
        for (const [i, final] of finals(events).entries()) {
          const lengthMs = (hear[i]?.samples.length ?? 0) / 16
          expect(final.words.length).toBeGreaterThan(0)
          let before = 0
          for (const word of final.words) {
            expect(word.startMs).toBeGreaterThanOrEqual(before)
            expect(word.endMs).toBeGreaterThanOrEqual(word.startMs)
            expect(word.endMs).toBeLessThanOrEqual(lengthMs + 20)
            before = word.startMs
          }
        }
      })
    )

    it.live("forgets a discarded utterance without an answer", () =>
      Effect.gen(function* () {
        const transcriber = yield* make
        const { events, options } = transcriptLog()
        const stream = yield* transcriber.open(options)
        pushAll(stream, hear[0]?.samples ?? new Int16Array(0))
        stream.discard()
        stream.commit()
        yield* until(() => finals(events).length === 1)
        yield* Effect.sleep(50)
        expect(finals(events)).toMatchObject([{ text: "", words: [] }])
      })
    )

    it.live("says nothing more once its scope is closed", () =>
      Effect.gen(function* () {
        const transcriber = yield* make
        const { events, failures, options } = transcriptLog()
        const stream = yield* Effect.scoped(
          Effect.gen(function* () {
            const stream = yield* transcriber.open(options)
            pushAll(stream, hear[0]?.samples ?? new Int16Array(0))
            stream.commit()
            return stream
          })
        )
        const before = events.length
        stream.push(new Int16Array(320))
        stream.commit()
        yield* Effect.sleep(300)
        expect(events.length).toBe(before)
        expect(failures).toEqual([])
      })
    )
  })
}

/** Share of the expected words that were heard. */
export const recall = (expected: string, heard: string): number => {
  const left = words(heard)
  const wanted = words(expected)
  let found = 0
  for (const word of wanted) {
    const at = left.indexOf(word)
    if (at === -1) continue
    left.splice(at, 1)
    found++
  }
  return found / wanted.length
}

const words = (text: string): Array<string> => text.toLowerCase().match(/[a-z']+/g) ?? []
