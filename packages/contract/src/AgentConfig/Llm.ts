// Section `llm`: a model of the platform's catalogue, or an OpenAI-compatible endpoint of one's own; never both.
// Beside a custom endpoint `model` is null. The endpoint's key is write-only: returned as null, kept while
// `base_url` stays the same, required otherwise.
import { Schema } from "effect"
import { defaulted, text, textBetween } from "../Field.ts"

const where = { base_url: textBetween(1, 2000), model: textBetween(1, 256) }

/** The section as it is sent; an `api_key` of null keeps the stored one. */
export const LlmPatch = Schema.Struct({
  model: Schema.optionalKey(Schema.NullOr(text(256))),
  custom: defaulted(
    Schema.NullOr(Schema.Struct({ ...where, api_key: Schema.optionalKey(Schema.NullOr(text(4096))) })),
    null
  )
})
export type LlmPatch = typeof LlmPatch.Type

/** Section `llm` as it is stored, the key sealed. */
export const StoredLlm = Schema.Struct({
  model: Schema.NullOr(Schema.String),
  /** `api_key` is sealed. */
  custom: defaulted(Schema.NullOr(Schema.Struct({ ...where, api_key: Schema.String })), null)
})
export type StoredLlm = typeof StoredLlm.Type

/** The section as it is returned, without the key. */
export const ReturnedLlm = Schema.Struct({
  model: Schema.NullOr(Schema.String),
  custom: Schema.NullOr(Schema.Struct({ base_url: Schema.String, model: Schema.String, api_key: Schema.Null }))
})
