// The revisions of knowledge an agent answers from. Publishing stores which they are beside the configuration, so that
// a version knows what it knew; a draft has the newest. The hash that is shown covers them.
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { inlineKnowledgeBytes } from "@parley/contract/KnowledgeSource"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { configHash } from "../storage/configHash.ts"
import { rowsOf } from "../storage/rows.ts"

/** One revision of a source. */
export const PinnedSource = Schema.Struct({
  knowledge_source_id: Schema.String,
  revision_number: Schema.Int,
  /** The source's name when it was pinned. */
  name: Schema.String
})
export type PinnedSource = typeof PinnedSource.Type

/** Revisions, and the hash of a configuration with them. */
export interface PinnedKnowledge {
  readonly knowledge: ReadonlyArray<PinnedSource>
  readonly hash: string
}

/** What a call knows: few documents in full, or many to be searched. */
export type CallKnowledge =
  | { readonly kind: "inline"; readonly documents: ReadonlyArray<{ readonly title: string; readonly content: string }> }
  | { readonly kind: "searched"; readonly sources: ReadonlyArray<PinnedSource> }

/** What an agent without sources knows. */
const noKnowledge: CallKnowledge = { kind: "inline", documents: [] }

/** `forShare`: nobody removes one of them before the transaction ends. */
export const findSources = (
  sql: SqlClient.SqlClient,
  workspace: string,
  ids: ReadonlyArray<string>,
  forShare = false
): Effect.Effect<ReadonlyArray<PinnedSource>> =>
  ids.length === 0
    ? Effect.succeed([])
    : pinnedRows(sql`SELECT id AS knowledge_source_id, revision_number, name FROM knowledge_sources
        WHERE workspace_id = ${workspace} AND ${sql.in("id", ids)} ORDER BY id ${forShare ? sql`FOR SHARE` : sql``}`).pipe(
        // In the order the draft names them.
        Effect.map((rows) => ids.flatMap((id) => rows.filter((row) => row.knowledge_source_id === id))),
        Effect.orDie
      )

/** @param hash of draft and tools. */
export const pinKnowledge = (
  sql: SqlClient.SqlClient,
  workspace: string,
  ids: ReadonlyArray<string>,
  hash: string
): Effect.Effect<PinnedKnowledge> =>
  Effect.map(findSources(sql, workspace, ids), (knowledge) => ({
    knowledge,
    hash:
      knowledge.length === 0
        ? hash
        : configHash({
            agent: hash,
            knowledge: knowledge.map((one) => [one.knowledge_source_id, one.revision_number, one.name])
          })
  }))

/** The documents in full up to `inlineKnowledgeBytes` together, else what is to be searched. */
export const knowledgeFor = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  section: StoredConfig["knowledge_base"],
  pinned: ReadonlyArray<PinnedSource>
): Effect.fn.Return<CallKnowledge> {
  if (!section.enabled || pinned.length === 0) return noKnowledge
  const these = sql.or(
    pinned.map((one) => sql`(source_id = ${one.knowledge_source_id} AND revision_number = ${one.revision_number})`)
  )
  const sizes = yield* sizeRows(sql`SELECT coalesce(sum(size_bytes), 0)::int AS bytes
    FROM knowledge_revisions WHERE ${these}`).pipe(Effect.orDie)
  if ((sizes[0]?.bytes ?? 0) > inlineKnowledgeBytes) return { kind: "searched", sources: pinned }
  const rows = yield* contentRows(sql`SELECT source_id, content
    FROM knowledge_revisions WHERE ${these}`).pipe(Effect.orDie)
  return {
    kind: "inline",
    documents: pinned.flatMap((one) =>
      rows
        .filter((row) => row.source_id === one.knowledge_source_id)
        .map(({ content }) => ({ title: one.name, content }))
    )
  }
})

const pinnedRows = rowsOf("knowledge_sources", PinnedSource)

const sizeRows = rowsOf("knowledge_revisions", Schema.Struct({ bytes: Schema.Int }))

const contentRows = rowsOf("knowledge_revisions", Schema.Struct({ source_id: Schema.String, content: Schema.String }))
