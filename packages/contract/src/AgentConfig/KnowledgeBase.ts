// Section `knowledge_base`. `enabled` left out beside sources means yes (decisions 6.3).
import { Schema } from "effect"
import { defaulted, listOf, textBetween } from "../Field.ts"

const ids = defaulted(listOf(textBetween(1, 128), 100), [])

export const KnowledgeBase = Schema.Struct({ enabled: Schema.Boolean, knowledge_source_ids: ids })
export type KnowledgeBase = typeof KnowledgeBase.Type

export const KnowledgeBasePatch = Schema.Struct({
  enabled: Schema.optionalKey(Schema.Boolean),
  knowledge_source_ids: ids
})
