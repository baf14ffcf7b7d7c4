// Gives every revision of a document its vectors, where the platform has a model for that: whenever there is one
// without, or with those of another model, the newest first. A revision is found by its words until it has them.
import type { Embedder } from "@parley/llm/Embedder"
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as JobQueue from "../jobs/JobQueue.ts"
import * as JobWorker from "../jobs/JobWorker.ts"
import { Platform } from "../Platform.ts"
import type { Database } from "../storage/Database.ts"
import { rowsOf } from "../storage/rows.ts"
import { packed } from "./vectors.ts"

const lookMs = 2_000
/** Texts that are embedded with one request. */
const batch = 64
const batchMs = 60_000
/** Nothing is embedded for so long after a failure of the endpoint. */
const pauseMs = 30_000
/** Extended while a revision is at work. */
const leaseSeconds = 90

/** The worker; does nothing on a platform without a model. */
export const layer: Layer.Layer<never, never, Database | Platform | SqlClient.SqlClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { embedder } = yield* Platform
    if (embedder === undefined) return
    const queue = yield* JobQueue.make({
      table: "knowledge_revisions",
      key: ["source_id", "revision_number"],
      open: sql`t.embedded_by IS DISTINCT FROM ${embedder.model}`,
      order: sql`t.created_at DESC`,
      leaseSeconds,
      read: revisionRows
    })
    yield* JobWorker.start({
      queue,
      failed: "A document could not be embedded and will be tried again",
      keyOf,
      // A failure frees the revision at once: what pauses is the worker.
      run: (revision) => Effect.onError(embed(sql, embedder, revision), () => queue.later(keyOf(revision), 0)),
      atOnce: 1,
      lookMs,
      pauseMs
    })
  })
)

const Revision = Schema.Struct({ source_id: Schema.String, revision_number: Schema.Int })
const revisionRows = rowsOf("knowledge_revisions", Revision)

const keyOf = ({ revision_number, source_id }: typeof Revision.Type) => [source_id, revision_number]

/** Dies when the endpoint fails or takes more than a minute for one request. */
const embed = Effect.fn("Embedding.embed")(function* (
  sql: SqlClient.SqlClient,
  embedder: Embedder,
  { revision_number, source_id }: typeof Revision.Type
) {
  const chunks = yield* chunkRows(sql`SELECT heading, content FROM knowledge_chunks
    WHERE source_id = ${source_id} AND revision_number = ${revision_number} ORDER BY position`)
  const texts = chunks.map(({ content, heading }) => (heading === "" ? content : `${heading}\n\n${content}`))
  const vectors: Array<Float32Array> = []
  for (let at = 0; at < texts.length; at += batch) {
    const some = yield* Effect.timeoutOption(embedder.embed(texts.slice(at, at + batch)), batchMs)
    if (Option.isNone(some)) return yield* Effect.die("an embedding took too long")
    vectors.push(...some.value)
  }
  yield* sql`UPDATE knowledge_revisions SET embedded_by = ${embedder.model}, claimed_until = NULL,
      embeddings = ${Buffer.from(packed(vectors).buffer)}
    WHERE source_id = ${source_id} AND revision_number = ${revision_number}`
}, Effect.orDie)

const chunkRows = rowsOf("knowledge_chunks", Schema.Struct({ heading: Schema.String, content: Schema.String }))
