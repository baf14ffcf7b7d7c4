// An agent's whole configuration in three shapes: the body of a PATCH, the stored draft, and the one returned.
// A stored config is always decoded when read, so that a field added later takes its default in old records.
import { Schema } from "effect"
import { defaulted } from "../Field.ts"
import { Analysis } from "./Analysis.ts"
import { Asr, AsrPatch } from "./Asr.ts"
import { Conversation } from "./Conversation.ts"
import { Guardrails } from "./Guardrails.ts"
import { KnowledgeBase, KnowledgeBasePatch } from "./KnowledgeBase.ts"
import { LlmPatch, ReturnedLlm, StoredLlm } from "./Llm.ts"
import { Prompt } from "./Prompt.ts"
import { Tools } from "./Tools.ts"
import { Voice } from "./Voice.ts"
import { ReturnedWebhooks, StoredWebhooks, WebhooksPatch } from "./Webhooks.ts"

/** Any subset of the sections. What only a returned config has is taken and ignored. */
export const ConfigPatch = Schema.Struct({
  prompt: Schema.optionalKey(Prompt),
  voice: Schema.optionalKey(Voice),
  asr: Schema.optionalKey(AsrPatch),
  conversation: Schema.optionalKey(Conversation),
  tools: Schema.optionalKey(Tools),
  webhooks: Schema.optionalKey(WebhooksPatch),
  knowledge_base: Schema.optionalKey(KnowledgeBasePatch),
  analysis: Schema.optionalKey(Analysis),
  guardrails: Schema.optionalKey(Guardrails),
  llm: Schema.optionalKey(LlmPatch),
  agent_id: Schema.optionalKey(Schema.String),
  config_hash: Schema.optionalKey(Schema.String),
  updated_at: Schema.optionalKey(Schema.String)
})
export type ConfigPatch = typeof ConfigPatch.Type

const section = <S extends Schema.Top>(schema: Partial<S["Encoded"]> extends S["Encoded"] ? S : never) =>
  defaulted(schema, {} as S["Encoded"])

/** The whole configuration as it is stored, secrets sealed. */
export const StoredConfig = Schema.Struct({
  prompt: section(Prompt),
  voice: section(Voice),
  asr: Asr,
  conversation: section(Conversation),
  tools: section(Tools),
  webhooks: section(StoredWebhooks),
  knowledge_base: KnowledgeBase,
  analysis: section(Analysis),
  guardrails: section(Guardrails),
  llm: StoredLlm
})
export type StoredConfig = typeof StoredConfig.Type

/** The sections as they are shown, without the record's own fields: a version's `config`. */
export const ReturnedSections = Schema.Struct({
  prompt: Schema.toType(Prompt),
  voice: Schema.toType(Voice),
  asr: Schema.toType(Asr),
  conversation: Schema.toType(Conversation),
  tools: Schema.toType(Tools),
  webhooks: ReturnedWebhooks,
  knowledge_base: Schema.toType(KnowledgeBase),
  analysis: Schema.toType(Analysis),
  guardrails: Schema.toType(Guardrails),
  llm: ReturnedLlm
})
export type ReturnedSections = typeof ReturnedSections.Type

/** As it is returned: secrets are null, `has_secret` and the like say that there is one. */
export const ReturnedConfig = Schema.Struct({
  ...ReturnedSections.fields,
  agent_id: Schema.String,
  config_hash: Schema.String,
  updated_at: Schema.String
})
export type ReturnedConfig = typeof ReturnedConfig.Type

/** Secrets become `has_secret` or null. */
export const redactConfig = (stored: StoredConfig): ReturnedSections => ({
  ...stored,
  webhooks: {
    conversation_init:
      stored.webhooks.conversation_init === null
        ? null
        : {
            url: stored.webhooks.conversation_init.url,
            has_secret: stored.webhooks.conversation_init.secret !== null,
            timeout_seconds: stored.webhooks.conversation_init.timeout_seconds
          },
    post_call: stored.webhooks.post_call.map(({ secret, url }) => ({ url, has_secret: secret !== null }))
  },
  llm: {
    model: stored.llm.model,
    custom:
      stored.llm.custom === null
        ? null
        : { base_url: stored.llm.custom.base_url, model: stored.llm.custom.model, api_key: null }
  }
})
