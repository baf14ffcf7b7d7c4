// Gives every revision of a document its vectors, where the platform has a model for that: whenever there is one
// without, or with those of another model, the newest first. A revision is found by its words until it has them.
import type { Embedder } from "@parley/llm/Embedder"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Platform } from "../Platform.ts"
import { Database } from "../storage/Database.ts"
import { packed } from "./vectors.ts"

const lookMs = 2_000
const batch = 64
const batchMs = 60_000
/** After a failure of the endpoint. */
const pauseMs = 30_000

export const layer: Layer.Layer<never, never, Database | Platform | SqlClient.SqlClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* Database
    const sql = yield* SqlClient.SqlClient
    const { embedder } = yield* Platform
    if (embedder === undefined) return
    yield* embedNext(sql, embedder).pipe(
      Effect.flatMap((embedded) => (embedded ? Effect.void : Effect.sleep(lookMs))),
      Effect.catchCause(() =>
        Effect.andThen(
          Effect.logWarning("Documents could not be embedded and will be tried again"),
          Effect.sleep(pauseMs)
        )
      ),
      Effect.forever,
      Effect.forkScoped
    )
  })
)

/** Whether there was one. */
export const embedNext = Effect.fn("Embedding.embedNext")(function* (sql: SqlClient.SqlClient, embedder: Embedder) {
  const [revision] = yield* sql<{ source_id: string; revision_number: number }>`SELECT source_id, revision_number
    FROM knowledge_revisions WHERE embedded_by IS DISTINCT FROM ${embedder.model} ORDER BY created_at DESC LIMIT 1`
  if (revision === undefined) return false
  const { revision_number, source_id } = revision
  const chunks = yield* sql<{ heading: string; content: string }>`SELECT heading, content FROM knowledge_chunks
    WHERE source_id = ${source_id} AND revision_number = ${revision_number} ORDER BY position`
  const texts = chunks.map(({ content, heading }) => (heading === "" ? content : `${heading}\n\n${content}`))
  const vectors: Array<Float32Array> = []
  for (let at = 0; at < texts.length; at += batch) {
    const some = yield* Effect.timeoutOption(embedder.embed(texts.slice(at, at + batch)), batchMs)
    if (Option.isNone(some)) return yield* Effect.die("an embedding took too long")
    vectors.push(...some.value)
  }
  const rows = packed(vectors)
  yield* sql`UPDATE knowledge_revisions SET embedded_by = ${embedder.model}, embeddings = ${Buffer.from(rows.buffer)}
    WHERE source_id = ${source_id} AND revision_number = ${revision_number}`
  return true
})
