// Finds the passages of given revisions that have the most to do with a question: by its words (PostgreSQL's full-text
// search in each document's own language; any of them counts), and by its meaning where the platform embeds texts.
// Meaning is left out when it takes too long; who asks bounds the whole.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Platform } from "../Platform.ts"
import { Database } from "../storage/Database.ts"
import { fused } from "./fusion.ts"
import { searchQuery } from "./searchWords.ts"
import { packed } from "./vectors.ts"
import * as VectorScan from "./VectorScan.ts"
import { rowsOf } from "../storage/rows.ts"

/** One revision of a source, with the name it is shown under. */
export interface SearchedRevision {
  readonly id: string
  readonly revision: number
  readonly title: string
}

/** A passage for the model. */
export interface FoundPassage {
  /** The source's name, and the headings the passage stands under. */
  readonly title: string
  readonly text: string
}

const mostPassages = 5
const mostCharacters = 4000
/** Of each way of searching. */
const mostCandidates = 20
/** Within the 300 ms of a turn, so that the words' findings are not lost with it. */
const meaningMs = 250
/** Cosine below which a passage has nothing to do with the question. */
const leastLikeness = 0.2

/** Search in revisions of documents. */
export class KnowledgeSearch extends Context.Service<
  KnowledgeSearch,
  {
    /** Best first: at most five, of about 4,000 characters together. */
    readonly find: (
      revisions: ReadonlyArray<SearchedRevision>,
      question: string
    ) => Effect.Effect<ReadonlyArray<FoundPassage>>
  }
>()("@parley/workspace/KnowledgeSearch") {
  static readonly layer: Layer.Layer<KnowledgeSearch, never, Database | Platform | SqlClient.SqlClient> = Layer.effect(
    KnowledgeSearch,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const { embedder } = yield* Platform
      const scan = embedder === undefined ? undefined : yield* VectorScan.make

      const byWords = Effect.fnUntraced(function* (wanted: string, question: string) {
        const query = searchQuery(question)
        if (query === "") return []
        return yield* chunkKeys(sql`WITH asked AS (
            SELECT r.source_id, r.revision_number, to_tsquery(r.language, ${query}) AS query
            FROM jsonb_to_recordset(${wanted}::jsonb) AS w (id text, revision int)
            JOIN knowledge_revisions r ON r.source_id = w.id AND r.revision_number = w.revision
          )
          SELECT c.source_id, c.revision_number, c.position FROM asked a
          JOIN knowledge_chunks c ON c.source_id = a.source_id AND c.revision_number = a.revision_number
            AND c.search @@ a.query
          ORDER BY ts_rank(c.search, a.query, 1) DESC, c.source_id, c.position LIMIT ${mostCandidates}`)
      })

      const rowsOf = (key: string) => {
        const { revision_number, source_id } = chunkOf(key, 0)
        return embeddingRows(sql`SELECT embeddings FROM knowledge_revisions
          WHERE source_id = ${source_id} AND revision_number = ${revision_number}`).pipe(
          // A copy: what came from the pool is not the worker's to keep.
          Effect.map(([row]) => new Int8Array(row?.embeddings ?? []))
        )
      }

      const byMeaning = Effect.fnUntraced(function* (wanted: string, question: string) {
        if (embedder === undefined || scan === undefined || question.trim() === "") return []
        const embedded = yield* revisionKeys(sql`SELECT r.source_id, r.revision_number
          FROM jsonb_to_recordset(${wanted}::jsonb) AS w (id text, revision int)
          JOIN knowledge_revisions r ON r.source_id = w.id AND r.revision_number = w.revision
          WHERE r.embedded_by = ${embedder.model}`)
        if (embedded.length === 0) return []
        const vector = packed(yield* embedder.embed([question]))
        const keys = embedded.map((row) => keyOf(row, embedder.model))
        const found = yield* scan.find(keys, vector, mostCandidates, rowsOf)
        return found
          .filter(({ likeness }) => likeness >= leastLikeness)
          .map(({ key, position }) => chunkOf(key, position))
      })

      return {
        find: Effect.fn("KnowledgeSearch.find")(function* (revisions, question) {
          if (revisions.length === 0) return []
          const wanted = JSON.stringify(revisions.map(({ id, revision }) => ({ id, revision })))
          const meant = byMeaning(wanted, question).pipe(
            Effect.timeoutOrElse({ duration: meaningMs, orElse: () => Effect.succeed<ReadonlyArray<ChunkKey>>([]) }),
            Effect.catch(() => Effect.succeed<ReadonlyArray<ChunkKey>>([]))
          )
          const rankings = yield* Effect.all([byWords(wanted, question), meant], { concurrency: 2 }).pipe(Effect.orDie)
          const best = fused(rankings, chunkKey).slice(0, mostPassages)
          if (best.length === 0) return []
          const rows = yield* chunkRows(sql`SELECT c.source_id,
              c.revision_number, c.position, c.heading, c.content
            FROM jsonb_to_recordset(${JSON.stringify(best)}::jsonb)
              AS b (source_id text, revision_number int, position int)
            JOIN knowledge_chunks c USING (source_id, revision_number, position)`).pipe(Effect.orDie)
          const chunks = new Map(rows.map((row) => [chunkKey(row), row]))
          const titles = new Map(revisions.map(({ id, title }) => [id, title]))
          return withinBounds(
            best.flatMap((key) => {
              const chunk = chunks.get(chunkKey(key))
              if (chunk === undefined) return []
              const title = [titles.get(key.source_id) ?? "", chunk.heading].filter((part) => part !== "").join(": ")
              return [{ title, text: chunk.content }]
            })
          )
        })
      }
    })
  )
}

const ChunkKey = Schema.Struct({
  source_id: Schema.String,
  revision_number: Schema.Int,
  position: Schema.Int
})
type ChunkKey = typeof ChunkKey.Type

const chunkKey = (chunk: ChunkKey): string => `${chunk.source_id} ${chunk.revision_number} ${chunk.position}`

const keyOf = (row: Omit<ChunkKey, "position">, model: string): string =>
  `${row.source_id} ${row.revision_number} ${model}`

const chunkOf = (key: string, position: number): ChunkKey => {
  const [source_id = "", revision = ""] = key.split(" ")
  return { source_id, revision_number: Number(revision), position }
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

const chunkKeys = rowsOf("knowledge_chunks", ChunkKey)
const revisionKeys = rowsOf(
  "knowledge_revisions",
  Schema.Struct({ source_id: Schema.String, revision_number: Schema.Int })
)
const chunkRows = rowsOf(
  "knowledge_chunks",
  Schema.Struct({ ...ChunkKey.fields, heading: Schema.String, content: Schema.String })
)

const embeddingRows = rowsOf("knowledge_revisions", Schema.Struct({ embeddings: Schema.Uint8Array }))
