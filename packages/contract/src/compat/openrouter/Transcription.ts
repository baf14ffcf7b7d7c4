// OpenRouter-compatible API: the JSON body of POST /audio/transcriptions. The same names are fields of its form.
import { Schema } from "effect"
import { text } from "../../Field.ts"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** The body of a recognition request. */
export const TranscriptionRequest = Schema.Struct({
  model: text(256),
  input_audio: Schema.Struct({ data: Schema.Uint8ArrayFromBase64, format: maybe(Schema.String) }),
  language: maybe(text(64)),
  response_format: maybe(text(32)),
  timestamp_granularities: maybe(Schema.Union([text(64), Schema.Array(text(64))])),
  provider: maybe(Schema.Struct({ options: maybe(Schema.Record(Schema.String, Schema.Unknown)) }))
})
export type TranscriptionRequest = typeof TranscriptionRequest.Type
