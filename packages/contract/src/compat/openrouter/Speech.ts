// OpenRouter-compatible API: the body of POST /audio/speech. What is not named here is left alone, the
// service's own parameters at the top level included.
import { Schema } from "effect"
import { listOf, text } from "../../Field.ts"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** A recording, base64 without a data URI; the part after it may be what is said in it. */
const AudioPart = Schema.Struct({
  type: Schema.Literal("input_audio"),
  input_audio: Schema.Struct({ data: Schema.String, format: maybe(Schema.String) })
})
const TextPart = Schema.Struct({ type: Schema.Literal("text"), text: text(10_000) })

/** A recording to speak like, or what is said in it. */
export const InputReference = Schema.Union([AudioPart, TextPart])
export type InputReference = typeof InputReference.Type

/** The body of a synthesis request. */
export const SpeechRequest = Schema.Struct({
  model: text(256),
  input: text(2 ** 25),
  voice: maybe(text(256)),
  response_format: maybe(Schema.Literals(["mp3", "wav", "pcm", "opus"])),
  speed: maybe(Schema.Finite),
  input_references: maybe(listOf(InputReference, 40)),
  temperature: maybe(Schema.Finite),
  top_p: maybe(Schema.Finite),
  repetition_penalty: maybe(Schema.Finite),
  provider: maybe(Schema.Struct({ options: maybe(Schema.Record(Schema.String, Schema.Unknown)) }))
})
export type SpeechRequest = typeof SpeechRequest.Type
