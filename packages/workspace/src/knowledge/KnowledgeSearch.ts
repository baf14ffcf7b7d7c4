// Finds the passages of given revisions that have the most to do with a question, by PostgreSQL's full-text search in
// each document's own language. Any of the question's words counts; who asks bounds the time.
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../storage/Database.ts"
import { searchQuery } from "./searchWords.ts"

export interface SearchedRevision {
  readonly id: string
  readonly revision: number
  readonly title: string
}

export interface FoundPassage {
  /** The source's name, and the headings the passage stands under. */
  readonly title: string
  readonly text: string
}

const mostPassages = 5
const mostCharacters = 4000

export class KnowledgeSearch extends Context.Service<
  KnowledgeSearch,
  {
    /** Best first: at most five, of about 4,000 characters together. */
    readonly find: (
      revisions: ReadonlyArray<SearchedRevision>,
      question: string
    ) => Effect.Effect<ReadonlyArray<FoundPassage>>
  }
>()("parley/workspace/knowledge/KnowledgeSearch") {
  static readonly layer: Layer.Layer<KnowledgeSearch, never, Database | SqlClient.SqlClient> = Layer.effect(
    KnowledgeSearch,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      return {
        find: Effect.fn("KnowledgeSearch.find")(function* (revisions, question) {
          const query = searchQuery(question)
          if (query === "" || revisions.length === 0) return []
          const wanted = JSON.stringify(revisions.map(({ id, revision }) => ({ id, revision })))
          const rows = yield* sql<{ source_id: string; heading: string; content: string }>`
            WITH asked AS (
              SELECT r.source_id, r.revision_number, to_tsquery(r.language, ${query}) AS query
              FROM jsonb_to_recordset(${wanted}::jsonb) AS w (id text, revision int)
              JOIN knowledge_revisions r ON r.source_id = w.id AND r.revision_number = w.revision
            )
            SELECT c.source_id, c.heading, c.content FROM asked a
            JOIN knowledge_chunks c ON c.source_id = a.source_id AND c.revision_number = a.revision_number
              AND c.search @@ a.query
            ORDER BY ts_rank(c.search, a.query, 1) DESC, c.source_id, c.position LIMIT ${mostPassages}`.pipe(
            Effect.orDie
          )
          const titles = new Map(revisions.map(({ id, title }) => [id, title]))
          return withinBounds(
            rows.map(({ content, heading, source_id }) => ({
              title: [titles.get(source_id) ?? "", heading].filter((part) => part !== "").join(": "),
              text: content
            }))
          )
        })
      }
    })
  )
}

/** The first always, others while there is room. */
const withinBounds = (passages: ReadonlyArray<FoundPassage>): ReadonlyArray<FoundPassage> => {
  let left = mostCharacters
  return passages.filter(({ text }, i) => {
    if (i > 0 && text.length > left) return false
    left -= text.length
    return true
  })
}
