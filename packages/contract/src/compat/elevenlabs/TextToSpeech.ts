// ElevenLabs-compatible API: the body of its synthesis endpoints. What only the third party has is taken and left
// alone: similarity_boost, style, use_speaker_boost, language_code, seed, and whatever is not named here.
import { Schema } from "effect"
import { numberBetween, text } from "../../Field.ts"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** What of a voice's settings counts here. */
export const VoiceSettings = Schema.Struct({
  /** Temperature is what is left of it to 1. */
  stability: maybe(numberBetween(0, 1)),
  speed: maybe(numberBetween(0.5, 2))
})
export type VoiceSettings = typeof VoiceSettings.Type

/** The body of a synthesis request. */
export const TextToSpeech = Schema.Struct({
  text: text(2 ** 26),
  model_id: maybe(text(256)),
  voice_settings: maybe(VoiceSettings)
})
export type TextToSpeech = typeof TextToSpeech.Type

/** First and following messages of the text socket. */
export const SocketText = Schema.Struct({
  text: Schema.String,
  voice_settings: maybe(VoiceSettings),
  try_trigger_generation: maybe(Schema.Boolean),
  flush: maybe(Schema.Boolean),
  "xi-api-key": maybe(Schema.String),
  authorization: maybe(Schema.String)
})
export type SocketText = typeof SocketText.Type
