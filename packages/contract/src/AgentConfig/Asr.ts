// Section `asr`: how the agent hears. The model's default is the first of the platform's catalogue.
import { Schema } from "effect"
import { defaulted, listOf, text, textBetween } from "../Field.ts"

const fields = {
  multilingual: defaulted(Schema.Boolean, false),
  strict_language: defaulted(Schema.Boolean, false),
  keyterms: defaulted(listOf(textBetween(1, 200), 50), [])
}

/** Section `asr`: the recognition model, its languages and key terms. */
export const Asr = Schema.Struct({ model: text(256), ...fields })
export type Asr = typeof Asr.Type

/** The section as it is sent. */
export const AsrPatch = Schema.Struct({ model: Schema.optionalKey(text(256)), ...fields })
