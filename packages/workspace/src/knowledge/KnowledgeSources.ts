// The workspace's knowledge sources. A foreign or removed source is not found. One that a draft or a
// live version names cannot be removed; its old revisions stay while any version names them, and for an hour, because
// a preview may be answering from them.
import { type BadRequest, Conflict, type NotFound } from "@parley/contract/Errors"
import type { KnowledgeSource, KnowledgeSourceAgents, KnowledgeSourceDetail } from "@parley/contract/KnowledgeSource"
import type { Page, PageRequest } from "@parley/contract/Page"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { likePattern, readPage } from "../storage/Paging.ts"
import { Database } from "../storage/Database.ts"
import { chunksOf } from "./chunks.ts"
import type { KnowledgeDocument } from "./KnowledgeDocument.ts"
import { searchLanguage, searchText } from "./searchWords.ts"
import { finder } from "../storage/records.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"

/** `search`: part of the name or the file's name, in any case. */
export interface KnowledgeListQuery extends PageRequest {
  readonly search?: string
}

/** What is undefined stays; a new document is a new revision. */
export interface KnowledgeChange {
  readonly name: string | undefined
  readonly description: string | undefined
  readonly document: KnowledgeDocument | undefined
}

/** Knowledge sources of a workspace. */
export class KnowledgeSources extends Context.Service<
  KnowledgeSources,
  {
    readonly list: (workspace: string, query: KnowledgeListQuery) => Effect.Effect<Page<KnowledgeSource>, BadRequest>
    /** The name defaults to the file's. */
    readonly create: (
      workspace: string,
      input: KnowledgeChange & { readonly document: KnowledgeDocument }
    ) => Effect.Effect<KnowledgeSource>
    readonly get: (workspace: string, id: string) => Effect.Effect<KnowledgeSourceDetail, NotFound>
    readonly update: (
      workspace: string,
      id: string,
      change: KnowledgeChange
    ) => Effect.Effect<KnowledgeSource, NotFound>
    readonly remove: (workspace: string, id: string) => Effect.Effect<void, NotFound | Conflict>
    /** Those whose draft or live version names it. */
    readonly agents: (workspace: string, id: string) => Effect.Effect<KnowledgeSourceAgents, NotFound>
  }
>()("@parley/workspace/KnowledgeSources") {
  static readonly layer: Layer.Layer<KnowledgeSources, never, Database | SqlClient.SqlClient> = Layer.effect(
    KnowledgeSources,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient

      const find = finder(sql, { table: "knowledge_sources", noun: "Knowledge source", read: knowledgeRows })

      const usersOf = (row: KnowledgeRow) =>
        userRows(sql`SELECT a.id AS agent_id, a.name FROM agents a
          WHERE a.workspace_id = ${row.workspace_id} AND a.deleted_at IS NULL AND (
            a.draft->'knowledge_base'->'knowledge_source_ids' @> to_jsonb(${row.id}::text)
            OR EXISTS (SELECT 1 FROM agent_versions v WHERE v.agent_id = a.id AND v.version_number = a.live_version
              AND v.knowledge @> ${JSON.stringify([{ knowledge_source_id: row.id }])}::jsonb))
          ORDER BY a.seq DESC`).pipe(Effect.orDie)

      return {
        list: Effect.fn("KnowledgeSources.list")(function* (workspace, query) {
          const conditions = [sql`workspace_id = ${workspace}`]
          if (query.search) {
            const pattern = likePattern(query.search)
            conditions.push(sql`(name ILIKE ${pattern} OR file_name ILIKE ${pattern})`)
          }
          return yield* readPage(sql, query, {
            from: "knowledge_sources",
            read: knowledgeRows,
            where: conditions,
            show
          })
        }),

        create: Effect.fn("KnowledgeSources.create")(
          function* (workspace, { description, document, name }) {
            const id = newId("knowledge")
            const chunks = yield* storeRevision(sql, id, 1, document)
            const row = yield* knowledgeRows(sql`INSERT INTO knowledge_sources
              (id, workspace_id, name, description, file_name, size_bytes, chunk_count)
              VALUES (${id}, ${workspace}, ${name ?? document.fileName}, ${description ?? ""}, ${document.fileName},
                ${document.sizeBytes}, ${chunks}) RETURNING *`).pipe(onlyRow)
            return show(row)
          },
          (effect) => Effect.orDie(sql.withTransaction(effect))
        ),

        get: Effect.fn("KnowledgeSources.get")(
          function* (workspace, id) {
            // Together, or the revision may be another one than the record says.
            const row = yield* find(workspace, id, "update")
            const rows = yield* contentRows(sql`SELECT content FROM knowledge_revisions
              WHERE source_id = ${id} AND revision_number = ${row.revision_number}`)
            return { ...show(row), content: rows[0]?.content ?? "" }
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        update: Effect.fn("KnowledgeSources.update")(
          function* (workspace, id, { description, document, name }) {
            const row = yield* find(workspace, id, "update")
            if (document !== undefined) {
              const chunks = yield* storeRevision(sql, id, row.revision_number + 1, document)
              yield* sql`UPDATE knowledge_revisions SET superseded_at = now()
                WHERE source_id = ${id} AND revision_number = ${row.revision_number}`
              yield* sql`UPDATE knowledge_sources SET file_name = ${document.fileName},
                size_bytes = ${document.sizeBytes}, chunk_count = ${chunks},
                revision_number = revision_number + 1 WHERE id = ${id}`
              yield* forget(sql, id, false)
            }
            yield* sql`UPDATE knowledge_sources SET name = coalesce(${name ?? null}, name),
              description = coalesce(${description ?? null}, description), updated_at = now() WHERE id = ${id}`
            return show(yield* find(workspace, id))
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        remove: Effect.fn("KnowledgeSources.remove")(
          function* (workspace, id) {
            const users = yield* usersOf(yield* find(workspace, id, "update"))
            if (users.length > 0) {
              const agents = users.length === 1 ? "1 agent" : `${users.length} agents`
              return yield* new Conflict({ message: `The knowledge source is attached to ${agents}` })
            }
            yield* sql`DELETE FROM knowledge_sources WHERE id = ${id}`
            yield* forget(sql, id, true)
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        agents: Effect.fn("KnowledgeSources.agents")(function* (workspace, id) {
          const agents = yield* usersOf(yield* find(workspace, id))
          return { agents, total: agents.length }
        })
      }
    })
  )
}

/** The text of a revision, and what its passages are found by. Returns how many passages. */
const storeRevision = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  id: string,
  revision: number,
  document: KnowledgeDocument
) {
  const language = searchLanguage(document.content)
  const chunks = yield* Effect.forEach(chunksOf(document.content), ({ content, heading }, position) => {
    const heading_words = searchText(heading)
    const content_words = searchText(content)
    const chunk = { position, heading, content, heading_words, content_words }
    // Live calls are served by this thread, too.
    return position % 50 === 49 ? Effect.as(Effect.yieldNow, chunk) : Effect.succeed(chunk)
  })
  yield* sql`INSERT INTO knowledge_revisions (source_id, revision_number, language, size_bytes, content)
    VALUES (${id}, ${revision}, ${language}::text::regconfig, ${document.sizeBytes}, ${document.content})`
  yield* sql`INSERT INTO knowledge_chunks (source_id, revision_number, position, heading, content, search)
    SELECT ${id}, ${revision}::int, position, heading, content,
      setweight(to_tsvector(${language}::text::regconfig, heading_words), 'A')
        || setweight(to_tsvector(${language}::text::regconfig, content_words), 'B')
    FROM jsonb_to_recordset(${JSON.stringify(chunks)}::jsonb)
      AS c (position int, heading text, content text, heading_words text, content_words text)`
  return chunks.length
})

/** Revisions nobody names: those superseded a while ago, or all of a source that is gone. */
const forget = (sql: SqlClient.SqlClient, id: string, all: boolean) =>
  sql`DELETE FROM knowledge_revisions r WHERE r.source_id = ${id}
    AND ${all ? sql`TRUE` : sql`r.superseded_at < now() - interval '1 hour'`}
    AND NOT EXISTS (SELECT 1 FROM agent_versions v WHERE v.knowledge @> jsonb_build_array(jsonb_build_object(
      'knowledge_source_id', r.source_id, 'revision_number', r.revision_number)))`

const KnowledgeRow = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  workspace_id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  file_name: Schema.String,
  size_bytes: Schema.Int,
  chunk_count: Schema.Int,
  revision_number: Schema.Int,
  created_at: Schema.Date,
  updated_at: Schema.Date
})
type KnowledgeRow = typeof KnowledgeRow.Type

const show = (row: KnowledgeRow): KnowledgeSource => ({
  knowledge_source_id: row.id,
  workspace_id: row.workspace_id,
  name: row.name,
  description: row.description,
  file_name: row.file_name,
  size_bytes: row.size_bytes,
  chunk_count: row.chunk_count,
  revision_number: row.revision_number,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString()
})

const knowledgeRows = rowsOf("knowledge_sources", KnowledgeRow)

const userRows = rowsOf("agents", Schema.Struct({ agent_id: Schema.String, name: Schema.String }))

const contentRows = rowsOf("knowledge_revisions", Schema.Struct({ content: Schema.String }))
