// Section `analysis`: what is drawn from a call when it is over.
import { Schema } from "effect"
import { defaulted, listOf, text, textBetween, textMatching } from "../Field.ts"
import { Language } from "../Language.ts"

const name = textMatching(
  /^[a-z][a-z0-9_]{0,63}$/,
  64,
  "must start with a lower-case letter and hold only lower-case letters, digits and _"
)

const uniqueNames = Schema.makeFilter((items: ReadonlyArray<{ readonly name: string }>) => {
  const twice = items.findIndex((item, index) => items.findIndex((other) => other.name === item.name) < index)
  return twice < 0 ? undefined : { path: [twice, "name"], issue: "must be unique" }
})

/** A value to be drawn from the call; `enum_options` for type `enum`. */
const DataField = Schema.Struct({
  name,
  type: defaulted(Schema.Literals(["text", "boolean", "number", "enum"]), "text"),
  description: defaulted(text(500), ""),
  enum_options: defaulted(listOf(textBetween(1, 200), 20), [])
}).check(
  Schema.makeFilter((field) => {
    if (field.type !== "enum") {
      return field.enum_options.length === 0
        ? undefined
        : { path: ["enum_options"], issue: "belongs to type enum only" }
    }
    if (field.enum_options.length < 2) return { path: ["enum_options"], issue: "must have at least 2 entries" }
    return new Set(field.enum_options).size === field.enum_options.length
      ? undefined
      : { path: ["enum_options"], issue: "must not repeat an entry" }
  })
)

/** Something the call is to be measured by: success, failure or unknown. */
export const Criterion = Schema.Struct({ name, description: defaulted(text(500), "") })

/** Whether and how the call is summed up. */
const Summary = Schema.Struct({
  enabled: defaulted(Schema.Boolean, true),
  prompt: defaulted(text(1000), ""),
  language: defaulted(Language, "en")
})

/** Section `analysis`: what is drawn from a call that is over. */
export const Analysis = Schema.Struct({
  summary: defaulted(Summary, {}),
  data_fields: defaulted(listOf(DataField, 20).check(uniqueNames), []),
  criteria: defaulted(listOf(Criterion, 10).check(uniqueNames), [])
})
export type Analysis = typeof Analysis.Type
