import { assert, layer } from "@effect/vitest"
import * as OpenAiEmbeddings from "@parley/llm/openai/OpenAiEmbeddings"
import * as FakeEmbeddings from "@parley/llm/testing/FakeEmbeddings"
import { Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import * as Embedding from "../../src/knowledge/Embedding.ts"
import { readDocument } from "../../src/knowledge/KnowledgeDocument.ts"
import { KnowledgeSearch } from "../../src/knowledge/KnowledgeSearch.ts"
import { KnowledgeSources } from "../../src/knowledge/KnowledgeSources.ts"
import { Platform } from "../../src/Platform.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

class Endpoint extends Context.Service<Endpoint, FakeEmbeddings.FakeEmbeddings>()("test/Endpoint") {}

const endpoint = Layer.effect(Endpoint, FakeEmbeddings.make([/car|parking|vehicle/i, /price|euro|cost/i]))

const platform = Layer.effect(
  Platform,
  Effect.map(Endpoint, ({ baseUrl }) => ({
    voices: new Set<string>(),
    asrModels: ["vendor:transcribe-1"] as const,
    llmModels: ["default"] as const,
    allowedPrivate: [],
    cloning: false,
    trialBalance: "unlimited" as const,
    embedder: OpenAiEmbeddings.make({ baseUrl, model: "toy" })
  }))
)

const live = Layer.mergeAll(KnowledgeSources.layer, KnowledgeSearch.layer, Workspaces.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer)),
  Layer.provideMerge(endpoint)
)

const text = "# Garage\n\nLeave your vehicle under the house.\n\n# Tariff\n\nTen euros a night.\n\n# Garden\n\nRoses."

/** A worker that lives until every revision has its vectors. */
const embedAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Layer.build(Embedding.layer)
  const open = sql`SELECT 1 FROM knowledge_revisions WHERE embedded_by IS DISTINCT FROM 'toy'`
  for (let left = 200; left > 0 && (yield* open).length > 0; left--) yield* Effect.sleep(25)
  assert.lengthOf(yield* open, 0)
}).pipe(Effect.scoped)

layer(live, { excludeTestServices: true })("Embedding", (it) => {
  it.effect("finds by meaning what has no word in common, and by words what was not embedded", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sources = yield* KnowledgeSources
      const search = yield* KnowledgeSearch
      const fake = yield* Endpoint
      const { embedder } = yield* Platform
      if (embedder === undefined) return assert.fail("no embedder")
      const ws = yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("meaning"))
      const document = Result.getOrThrow(readDocument("hotel.md", new TextEncoder().encode(text)))
      const source = yield* sources.create(ws, { name: "Hotel", description: undefined, document })
      const revisions = [{ id: source.knowledge_source_id, revision: 1, title: "Hotel" }]
      const best = (question: string) => Effect.map(search.find(revisions, question), ([first]) => first?.title)
      /** A machine too busy to embed in time answers from the words. */
      const meant = Effect.fnUntraced(function* (question: string, title: string) {
        let found = yield* best(question)
        for (let more = 40; found !== title && more > 0; more--) found = yield* best(question)
        assert.strictEqual(found, title)
      })

      // Nothing is embedded yet: words only, and the endpoint is not asked.
      assert.isUndefined(yield* best("Is there parking?"))
      assert.strictEqual(yield* best("roses"), "Hotel: Garden")
      assert.strictEqual(fake.requests.length, 0)

      yield* embedAll
      assert.strictEqual(fake.requests.length, 1)
      assert.strictEqual(fake.requests[0]?.length, source.chunk_count)
      // Another worker finds nothing to do.
      yield* Effect.scoped(Effect.andThen(Layer.build(Embedding.layer), Effect.sleep(300)))
      assert.strictEqual(fake.requests.length, 1)
      yield* meant("Is there parking?", "Hotel: Garage")
      yield* meant("What does it cost?", "Hotel: Tariff")
      // Both ways agree.
      yield* meant("How many euros for my car, ten euros?", "Hotel: Tariff")

      // The endpoint fails: what the words find is still told.
      fake.answerWith(500)
      assert.strictEqual(yield* best("roses"), "Hotel: Garden")
      assert.isUndefined(yield* best("Is there parking?"))
      fake.answerWith(undefined)

      // Another model's vectors are not compared with this one's; they are made anew.
      yield* sql`UPDATE knowledge_revisions SET embedded_by = 'older'`
      assert.isUndefined(yield* best("Is there parking?"))
      yield* embedAll
      yield* meant("Is there parking?", "Hotel: Garage")
    })
  )
})
