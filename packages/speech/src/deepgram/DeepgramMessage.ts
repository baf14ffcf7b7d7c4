// What Deepgram's live socket says, as far as it is used. Anything may come; what is not understood is told apart from
// what is of no interest.
import { Result, Schema } from "effect"
import type { SpokenWord } from "../ports/Transcriber.ts"

export type DeepgramMessage =
  | {
      readonly _tag: "Results"
      readonly startMs: number
      readonly endMs: number
      readonly isFinal: boolean
      readonly fromFinalize: boolean
      /** Times in the stream. */
      readonly words: ReadonlyArray<SpokenWord>
    }
  | { readonly _tag: "Error" }
  | { readonly _tag: "Other" }
  | { readonly _tag: "Garbage" }

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const Word = Schema.Struct({
  word: Schema.String,
  punctuated_word: maybe(Schema.String),
  start: Schema.Finite,
  end: Schema.Finite
})

const decodeTyped = Schema.decodeUnknownResult(Schema.Struct({ type: Schema.String }))

const decodeResults = Schema.decodeUnknownResult(
  Schema.Struct({
    start: Schema.Finite,
    duration: Schema.Finite,
    is_final: maybe(Schema.Boolean),
    from_finalize: maybe(Schema.Boolean),
    channel: Schema.Struct({
      alternatives: Schema.Array(Schema.Struct({ transcript: Schema.String, words: maybe(Schema.Array(Word)) }))
    })
  })
)

/** Decodes one frame. Never throws: what is no such message is `Garbage`, what is of no interest `Other`. */
export const messageOf = (message: unknown): DeepgramMessage => {
  const typed = decodeTyped(message)
  if (Result.isFailure(typed)) return { _tag: "Garbage" }
  if (typed.success.type === "Error") return { _tag: "Error" }
  if (typed.success.type !== "Results") return { _tag: "Other" }
  const results = decodeResults(message)
  if (Result.isFailure(results)) return { _tag: "Garbage" }
  const { channel, duration, from_finalize, is_final, start } = results.success
  const best = channel.alternatives[0]
  const [startMs, endMs] = [start * 1000, (start + duration) * 1000]
  const words = (best?.words ?? []).map((word) => ({
    text: word.punctuated_word ?? word.word,
    startMs: word.start * 1000,
    endMs: word.end * 1000
  }))
  // A transcript without words still has a place.
  const whole = words.length > 0 || !best?.transcript ? words : [{ text: best.transcript, startMs, endMs }]
  return {
    _tag: "Results",
    startMs,
    endMs,
    isFinal: is_final === true,
    fromFinalize: from_finalize === true,
    words: whole
  }
}
