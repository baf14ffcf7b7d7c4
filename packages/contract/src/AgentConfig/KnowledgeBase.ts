// Section `knowledge_base`. `enabled` left out beside sources means yes.
import { Schema } from "effect"
import { defaulted, listOf, textBetween } from "../Field.ts"

const ids = defaulted(listOf(textBetween(1, 128), 100), [])

/** Section `knowledge_base` as it is stored. */
export const KnowledgeBase = Schema.Struct({ enabled: Schema.Boolean, knowledge_source_ids: ids })
export type KnowledgeBase = typeof KnowledgeBase.Type

/** The section as it is sent. */
export const KnowledgeBasePatch = Schema.Struct({
  enabled: Schema.optionalKey(Schema.Boolean),
  knowledge_source_ids: ids
})
