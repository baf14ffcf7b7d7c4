// Section `voice`: how the agent sounds.
import { Schema } from "effect"
import { defaulted, numberBetween, text } from "../Field.ts"
import { Language } from "../Language.ts"

/** Section `voice`. */
export const Voice = Schema.Struct({
  /** Empty: the platform's default voice. */
  voice_id: defaulted(text(256), ""),
  speaking_language: defaulted(Language, "en"),
  expressive: defaulted(Schema.Boolean, false),
  speed: defaulted(numberBetween(0.5, 2), 1)
})
export type Voice = typeof Voice.Type
