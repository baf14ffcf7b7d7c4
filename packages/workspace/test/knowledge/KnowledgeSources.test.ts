import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../src/agents/Agents.ts"
import { readDocument } from "../../src/knowledge/KnowledgeDocument.ts"
import { KnowledgeSearch } from "../../src/knowledge/KnowledgeSearch.ts"
import { KnowledgeSources } from "../../src/knowledge/KnowledgeSources.ts"
import type { CallKnowledge } from "../../src/knowledge/PinnedKnowledge.ts"
import { Platform } from "../../src/Platform.ts"
import { SessionLife } from "../../src/sessions/SessionLife.ts"
import { Sessions } from "../../src/sessions/Sessions.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { type Runnable, Versions } from "../../src/agents/Versions.ts"
import * as Workspace from "../../src/Workspace.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set(["slt"]),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["default"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: 5_000_000_000n
})

const live = Workspace.layer(undefined).pipe(Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer)))

const home = (name: string) => Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure(name))

const file = (content: string, name = "hours.md") => ({
  name: undefined,
  description: undefined,
  document: Result.getOrThrow(readDocument(name, new TextEncoder().encode(content)))
})

const statusOf = <A, R>(effect: Effect.Effect<A, { readonly status: number }, R>) =>
  Effect.map(Effect.flip(effect), ({ status }) => status)

const inline = (content: string): CallKnowledge => ({
  kind: "inline",
  documents: [{ title: "hours.md", content }]
})

const agentWith = Effect.fnUntraced(function* (ws: string, ids: ReadonlyArray<string>) {
  const config = { knowledge_base: { knowledge_source_ids: ids } }
  return (yield* (yield* Agents).create(ws, { name: "Ada", config })).agent_id
})

const attach = (ws: string, agent: string, ids: ReadonlyArray<string>) =>
  Effect.flatMap(Agents, (agents) => agents.updateConfig(ws, agent, { knowledge_base: { knowledge_source_ids: ids } }))

/** What a call of it knows. */
const known = Effect.fnUntraced(function* (ws: string, runnable: Runnable) {
  const row = yield* (yield* Sessions).create({
    workspaceId: ws,
    runnable,
    preview: runnable.versionNumber === null,
    source: "api_key",
    name: "",
    timezone: "UTC",
    endUserId: "",
    metadata: {},
    input: { overrides: {}, dynamicVariables: {}, worldContext: true, toolEvents: true, recordAudio: false },
    maxDurationSeconds: 60
  })
  return (yield* (yield* SessionLife).claim(row.id)).knowledge
})

layer(live, { excludeTestServices: true })("KnowledgeSources", (it) => {
  it.effect("keeps a source under its id while its revisions go by", () =>
    Effect.gen(function* () {
      const sources = yield* KnowledgeSources
      const ws = yield* home("revisions")
      const made = yield* sources.create(ws, file("# Hours\n\nOpen at nine.\n\n# Way\n\nBy tram."))
      const { created_at, knowledge_source_id: id, updated_at, ...rest } = made
      assert.match(id, /^knowledge_/)
      assert.isString(created_at)
      assert.isString(updated_at)
      assert.deepStrictEqual(rest, {
        workspace_id: ws,
        name: "hours.md",
        description: "",
        file_name: "hours.md",
        size_bytes: 39,
        chunk_count: 2,
        revision_number: 1
      })
      assert.strictEqual((yield* sources.get(ws, id)).content, "# Hours\n\nOpen at nine.\n\n# Way\n\nBy tram.")
      const named = yield* sources.update(ws, id, { name: "Hours", description: "When.", document: undefined })
      assert.deepInclude(named, { name: "Hours", description: "When.", revision_number: 1, chunk_count: 2 })
      const next = yield* sources.update(ws, id, file("Open at ten.", "new.txt"))
      assert.deepInclude(next, { name: "Hours", file_name: "new.txt", size_bytes: 12, chunk_count: 1 })
      assert.deepInclude(next, { knowledge_source_id: id, revision_number: 2, created_at })
      assert.strictEqual((yield* sources.get(ws, id)).content, "Open at ten.")
    })
  )

  it.effect("lists by name and file name, by cursor and page, and hides another workspace's", () =>
    Effect.gen(function* () {
      const sources = yield* KnowledgeSources
      const ws = yield* home("lists")
      const other = yield* home("elsewhere")
      const make = (name: string, fileName: string) => sources.create(ws, { ...file("x", fileName), name })
      const one = yield* make("One 100%", "a.md")
      yield* make("Two", "b.md")
      yield* make("Three", "two.txt")
      const names = (query: Parameters<typeof sources.list>[1]) =>
        Effect.map(sources.list(ws, query), ({ items }) => items.map(({ name }) => name))
      assert.deepStrictEqual(yield* names({}), ["Three", "Two", "One 100%"])
      assert.deepStrictEqual(yield* names({ search: "two" }), ["Three", "Two"])
      assert.deepStrictEqual(yield* names({ search: "100%" }), ["One 100%"])
      const first = yield* sources.list(ws, { page_size: 2, include_total: "true" })
      assert.deepStrictEqual([first.has_more, first.total], [true, 3])
      assert.deepStrictEqual(yield* names({ page_size: 2, cursor: first.next_cursor ?? "" }), ["One 100%"])
      assert.deepStrictEqual(yield* names({ page: 2, page_size: 2 }), ["One 100%"])
      assert.strictEqual(yield* statusOf(sources.list(ws, { cursor: "x" })), 400)

      const id = one.knowledge_source_id
      assert.deepStrictEqual((yield* sources.list(other, {})).items, [])
      const attempts = [
        sources.get(other, id),
        sources.update(other, id, { name: "Theirs", description: undefined, document: undefined }),
        sources.remove(other, id),
        sources.agents(other, id)
      ]
      for (const attempt of attempts) assert.strictEqual(yield* statusOf<unknown, never>(attempt), 404)
      assert.strictEqual(yield* statusOf(agentWith(other, [id])), 422)
      assert.strictEqual(yield* statusOf(agentWith(ws, ["knowledge_unknown"])), 422)
    })
  )

  it.effect("cannot be removed while a draft or the live version names it", () =>
    Effect.gen(function* () {
      const sources = yield* KnowledgeSources
      const versions = yield* Versions
      const ws = yield* home("removal")
      const { knowledge_source_id: id } = yield* sources.create(ws, file("Open."))
      const agent = yield* agentWith(ws, [id])
      const { knowledge_base } = yield* (yield* Agents).config(ws, agent)
      assert.deepStrictEqual(knowledge_base, { enabled: true, knowledge_source_ids: [id] })
      const refused = yield* Effect.flip(sources.remove(ws, id))
      assert.deepStrictEqual([refused.status, refused.message], [409, "The knowledge source is attached to 1 agent"])
      yield* versions.publish(ws, agent, {})
      yield* attach(ws, agent, [])
      assert.strictEqual(yield* statusOf(sources.remove(ws, id)), 409)
      assert.deepStrictEqual(yield* sources.agents(ws, id), { agents: [{ agent_id: agent, name: "Ada" }], total: 1 })
      const old = yield* versions.live(ws, agent)
      yield* versions.publish(ws, agent, {})
      yield* sources.remove(ws, id)
      assert.strictEqual(yield* statusOf(sources.get(ws, id)), 404)
      assert.strictEqual(yield* statusOf(attach(ws, agent, [id])), 422)
      // A session of the version before still knows it.
      assert.deepStrictEqual(yield* known(ws, old), {
        kind: "inline",
        documents: [{ title: "hours.md", content: "Open." }]
      })
    })
  )

  it.effect("is never named by a draft once removed, whoever comes first", () =>
    Effect.gen(function* () {
      const sources = yield* KnowledgeSources
      const ws = yield* home("race")
      const agent = yield* agentWith(ws, [])
      for (let round = 0; round < 10; round++) {
        const { knowledge_source_id: id } = yield* sources.create(ws, file("x"))
        const [attached, removed] = yield* Effect.all(
          [Effect.exit(attach(ws, agent, [id])), Effect.exit(sources.remove(ws, id))],
          { concurrency: 2 }
        )
        assert.notStrictEqual(Exit.isSuccess(attached), Exit.isSuccess(removed))
        yield* attach(ws, agent, [])
      }
    })
  )

  it.effect("pins a version's revisions; a new one shows its agents as changed", () =>
    Effect.gen(function* () {
      const sources = yield* KnowledgeSources
      const agents = yield* Agents
      const versions = yield* Versions
      const sql = yield* SqlClient.SqlClient
      const ws = yield* home("pins")
      const { knowledge_source_id: id } = yield* sources.create(ws, file("Open at nine."))
      const agent = yield* agentWith(ws, [id])
      const hash = Effect.map(agents.config(ws, agent), ({ config_hash }) => config_hash)
      const one = yield* versions.publish(ws, agent, {})
      assert.strictEqual(yield* hash, one.config_hash)
      yield* sources.update(ws, id, { name: undefined, description: "Else.", document: undefined })
      assert.strictEqual(yield* hash, one.config_hash)

      for (const content of ["Open at ten.", "Open at eleven."]) {
        // What was superseded long ago is gone with the next file, unless a version names it.
        yield* sql`UPDATE knowledge_revisions SET superseded_at = now() - interval '2 hours' WHERE source_id = ${id}`
        yield* sources.update(ws, id, file(content))
      }
      yield* sql`UPDATE knowledge_revisions SET superseded_at = now() - interval '2 hours'
        WHERE source_id = ${id} AND revision_number < 3`
      yield* sources.update(ws, id, file("Open at noon."))
      const kept = yield* sql<{ n: number }>`SELECT revision_number AS n FROM knowledge_revisions
        WHERE source_id = ${id} ORDER BY 1`
      assert.deepStrictEqual(
        kept.map(({ n }) => n),
        [1, 3, 4]
      )
      assert.notStrictEqual(yield* hash, one.config_hash)
      assert.deepStrictEqual(yield* known(ws, yield* versions.live(ws, agent)), inline("Open at nine."))
      assert.deepStrictEqual(yield* known(ws, yield* versions.draft(ws, agent)), inline("Open at noon."))
      assert.strictEqual((yield* versions.publish(ws, agent, {})).version_number, 2)
      assert.strictEqual((yield* versions.publish(ws, agent, {})).version_number, 2)
      yield* agents.updateConfig(ws, agent, { knowledge_base: { enabled: false, knowledge_source_ids: [id] } })
      assert.deepStrictEqual(yield* known(ws, yield* versions.draft(ws, agent)), { kind: "inline", documents: [] })
    })
  )

  it.effect("is searched above 8 KB, each document in its own language", () =>
    Effect.gen(function* () {
      const sources = yield* KnowledgeSources
      const search = yield* KnowledgeSearch
      const versions = yield* Versions
      const ws = yield* home("search")
      const filler = "This is about the history of the house and of the family that built it in the last century.\n\n"
      const english = yield* sources.create(ws, {
        ...file(`# Story\n\n${filler.repeat(90)}# Prices\n\nDental implants cost 900 euros each, and crowns 400.`),
        name: "Clinic"
      })
      const german = yield* sources.create(ws, {
        ...file("Die Praxis ist am Sonntag geschlossen, und die Parkplätze sind auf dem Hof mit der Schranke."),
        name: "Anfahrt"
      })
      const chinese = yield* sources.create(ws, { ...file("我们的营业时间是早上九点到下午五点。"), name: "时间" })
      const ids = [english, german, chinese].map((source) => source.knowledge_source_id)
      const agent = yield* agentWith(ws, ids)
      const knowledge = yield* known(ws, yield* versions.draft(ws, agent))
      assert.strictEqual(knowledge.kind, "searched")
      const pinned = knowledge.kind === "searched" ? knowledge.sources : []
      assert.deepStrictEqual(
        pinned.map((source) => [source.knowledge_source_id, source.revision_number]),
        ids.map((id) => [id, 1])
      )
      const revisions = pinned.map((source) => ({
        id: source.knowledge_source_id,
        revision: source.revision_number,
        title: source.name
      }))
      const best = (question: string) => Effect.map(search.find(revisions, question), ([first]) => first)
      assert.deepStrictEqual(yield* best("How much does one implant cost?"), {
        title: "Clinic: Prices",
        text: "Dental implants cost 900 euros each, and crowns 400."
      })
      assert.strictEqual((yield* best("Wo kann ich parken, gibt es einen Parkplatz?"))?.title, "Anfahrt")
      assert.strictEqual((yield* best("营业时间?"))?.title, "时间")
      assert.isUndefined(yield* best("' | !x & ("))
      assert.isUndefined(yield* best("zebra"))
      const many = yield* search.find(revisions, "history of the house")
      assert.isAtMost(many.length, 5)
      assert.isAtMost(
        many.reduce((sum, { text }) => sum + text.length, 0),
        4000
      )
      // What is not asked of is not found.
      assert.deepStrictEqual(yield* search.find(revisions.slice(1), "implants"), [])
    })
  )
})
