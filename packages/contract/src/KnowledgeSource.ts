// Knowledge of a workspace: documents its agents answer from. A source keeps its id; every new file is
// a new revision of it.
import { Schema } from "effect"
import { text, textBetween } from "./Field.ts"
import { pageFields, PageQuery } from "./Page.ts"

/** Bytes of one file. */
export const knowledgeFileBytes = 1_048_576
/** Bytes of all sources of an agent up to which they are part of its prompt; above, they are searched. */
export const inlineKnowledgeBytes = 8192

/** A source with the measures of its newest revision. */
export const KnowledgeSource = Schema.Struct({
  knowledge_source_id: Schema.String,
  workspace_id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  file_name: Schema.String,
  /** Of the newest revision, as it was uploaded. */
  size_bytes: Schema.Int,
  chunk_count: Schema.Int,
  /** From 1. */
  revision_number: Schema.Int,
  created_at: Schema.String,
  updated_at: Schema.String
})
export type KnowledgeSource = typeof KnowledgeSource.Type

/** A source with its text. */
export const KnowledgeSourceDetail = Schema.Struct({ ...KnowledgeSource.fields, content: Schema.String })
export type KnowledgeSourceDetail = typeof KnowledgeSourceDetail.Type

/** One page, newest first. */
export const KnowledgeSourcePage = Schema.Struct({ knowledge_sources: Schema.Array(KnowledgeSource), ...pageFields })

/** `search`: part of the name or the file's name. */
export const KnowledgeSourceQuery = {
  /** Part of the name or of the file's name, in any case. */
  search: Schema.optionalKey(text(256)),
  ...PageQuery
}

/** What a form has beside its file. */
export const KnowledgeFields = Schema.Struct({
  name: Schema.optionalKey(textBetween(1, 256)),
  description: Schema.optionalKey(text(2000))
})
export type KnowledgeFields = typeof KnowledgeFields.Type

/** Agents whose draft or live version names the source. */
export const KnowledgeSourceAgents = Schema.Struct({
  agents: Schema.Array(Schema.Struct({ agent_id: Schema.String, name: Schema.String })),
  total: Schema.Int
})
export type KnowledgeSourceAgents = typeof KnowledgeSourceAgents.Type
