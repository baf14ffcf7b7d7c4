import { assert, layer } from "@effect/vitest"
import type { VoiceModelQuery } from "@parley/contract/VoiceModel"
import { Effect, Layer } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { type BlobArea, Blobs } from "../../src/storage/Blobs.ts"
import { Database } from "../../src/storage/Database.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { type NewVoiceModel, VoiceModels } from "../../src/voices/VoiceModels.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const live = Layer.mergeAll(VoiceModels.layer.pipe(Layer.provideMerge(Blobs.layer)), Workspaces.layer).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

const workspace = (name: string) => Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure(name))

const blob = (text: string, area: BlobArea = "voices") =>
  Effect.flatMap(Blobs, (blobs) => blobs.write(area, (path) => Effect.sync(() => writeFileSync(path, text)))).pipe(
    Effect.map(({ name }) => name)
  )

const model = (title: string, rest: Partial<NewVoiceModel> = {}): NewVoiceModel => ({
  title,
  description: "",
  visibility: "private",
  tags: [],
  languages: [],
  source: null,
  cover: undefined,
  defaultText: "",
  profile: { pitchHz: 120, pitchSpreadHz: 20, pace: 1, tract: 1, colour: [0, 1] },
  quality: [],
  references: [],
  samples: [],
  ...rest
})

layer(live, { excludeTestServices: true })("VoiceModels", (it) => {
  it.effect("gives its own voice as a character with files", () =>
    Effect.gen(function* () {
      const models = yield* VoiceModels
      const ws = yield* workspace("own")
      const references = [
        { blob: yield* blob("first"), text: "one" },
        { blob: yield* blob("second"), text: "" }
      ]
      const { _id } = yield* models.insert(ws, model("Ada", { references }))
      const record = yield* models.find(ws, _id)
      assert.isDefined(record)
      if (record === undefined) return
      const character = models.character(record)
      assert.deepStrictEqual(
        [character.id, character.profile?.pitchHz, character.references.map(({ text }) => text)],
        [_id, 120, ["one", ""]]
      )
      assert.deepStrictEqual(
        character.references.map(({ file }) => readFileSync(file, "utf8")),
        ["first", "second"]
      )
      yield* models.used(_id)
      assert.strictEqual((yield* models.get(ws, _id)).task_count, 1)
      for (const id of ["", "nobody", "0".repeat(32), "' OR true --", "\0", "\ud800"]) {
        assert.isUndefined(yield* models.find(ws, id))
      }
    })
  )

  it.effect("keeps workspaces apart, and shares by id what is unlist", () =>
    Effect.gen(function* () {
      const models = yield* VoiceModels
      const [mine, theirs] = [yield* workspace("mine"), yield* workspace("theirs")]
      const hidden = yield* models.insert(mine, model("Private"))
      const linked = yield* models.insert(mine, model("Linked", { visibility: "unlist" }))
      const asked = yield* models.insert(mine, model("Public", { visibility: "public" }))
      assert.strictEqual(asked.visibility, "private")
      assert.isUndefined(yield* models.find(theirs, hidden._id))
      assert.strictEqual((yield* models.find(theirs, linked._id))?.id, linked._id)
      assert.strictEqual((yield* models.get(theirs, linked._id)).author._id, mine)
      for (const attempt of [
        models.get(theirs, hidden._id),
        models.cover(theirs, hidden._id),
        models.update(theirs, linked._id, { title: "Stolen" }),
        models.remove(theirs, linked._id),
        models.remove(theirs, hidden._id)
      ]) {
        assert.strictEqual((yield* Effect.flip<unknown, { status: number }, never>(attempt)).status, 403)
      }
      assert.strictEqual((yield* Effect.flip(models.get(mine, "0".repeat(32)))).status, 404)
      assert.deepInclude(yield* models.list(theirs, {}), { total: 0, items: [] })
      assert.deepInclude(yield* models.ownPage(theirs, { page: 1, size: 10 }), { total: 0, voices: [] })
      assert.strictEqual((yield* models.get(mine, linked._id)).title, "Linked")
    })
  )

  it.effect("lists by title, tag, language and page", () =>
    Effect.gen(function* () {
      const models = yield* VoiceModels
      const ws = yield* workspace("lists")
      yield* models.insert(ws, model("One 100%", { tags: ["calm", 'odd "tag", \\{}'], languages: ["en"] }))
      const two = yield* models.insert(ws, model("Two", { tags: ["calm", "deep"], languages: ["de"] }))
      yield* models.insert(ws, model("Three", { languages: ["en"] }))
      yield* models.used(two._id)
      const titles = (query: VoiceModelQuery) =>
        Effect.map(models.list(ws, query), ({ items }) => items.map(({ title }) => title))
      assert.deepStrictEqual(yield* titles({}), ["Three", "Two", "One 100%"])
      assert.deepStrictEqual(yield* titles({ self: "true", tag: ["calm"] }), ["Two", "One 100%"])
      assert.deepStrictEqual(yield* titles({ tag: ["deep", "none"] }), ["Two"])
      assert.deepStrictEqual(yield* titles({ tag: ['odd "tag", \\{}'] }), ["One 100%"])
      assert.deepStrictEqual(yield* titles({ language: ["en"] }), ["Three", "One 100%"])
      assert.deepStrictEqual(yield* titles({ title: "100%" }), ["One 100%"])
      assert.deepStrictEqual(yield* titles({ title: "%" }), ["One 100%"])
      assert.deepStrictEqual(yield* titles({ sort_by: "task_count", page_size: 1 }), ["Two"])
      assert.deepStrictEqual(yield* titles({ author_id: ws, title: "t" }), ["Three", "Two"])
      assert.deepStrictEqual(yield* titles({ author_id: "somebody" }), [])
      assert.deepStrictEqual(yield* titles({ author_id: "somebody", self: "True", title: "two" }), ["Two"])
      assert.deepStrictEqual(yield* titles({ licensed: "true" }), [])
      const page = yield* models.list(ws, { page_size: 2, page_number: 1 })
      assert.deepInclude(page, { total: 3, has_more: true })
      assert.deepInclude(yield* models.list(ws, { page_size: 2, page_number: 2 }), { total: 3, has_more: false })
      const deep = yield* Effect.flip(models.list(ws, { page_size: 100, page_number: 2000 }))
      assert.strictEqual(deep.status, 400)
      const own = yield* models.ownPage(ws, { page: 2, size: 1, search: "t" })
      assert.deepStrictEqual([own.voices.map(({ title }) => title), own.total], [["Two"], 2])
    })
  )

  it.effect("changes what is sent, and drops a replaced cover", () =>
    Effect.gen(function* () {
      const models = yield* VoiceModels
      const blobs = yield* Blobs
      const ws = yield* workspace("changes")
      const old = yield* blob("old", "covers")
      const made = yield* models.insert(
        ws,
        model("Before", { tags: ["a"], description: "d", cover: { blob: old, type: "image/png" } })
      )
      assert.strictEqual(made.cover_image, `/model/${made._id}/cover`)
      const changed = yield* models.update(ws, made._id, { title: "After", visibility: "public", tags: ["b"] })
      assert.deepInclude(changed, { title: "After", visibility: "private", tags: ["b"], description: "d" })
      assert.isTrue(existsSync(blobs.path(old)))
      const next = yield* blob("new", "covers")
      yield* models.update(ws, made._id, { cover: { blob: next, type: "image/jpeg" }, visibility: "unlist" })
      assert.isFalse(existsSync(blobs.path(old)))
      assert.deepStrictEqual(yield* models.cover(ws, made._id), { path: blobs.path(next), type: "image/jpeg" })
      const bare = yield* models.update(ws, made._id, { cover: null })
      assert.deepInclude(bare, { cover_image: "", title: "After", visibility: "unlist" })
      assert.strictEqual((yield* Effect.flip(models.cover(ws, made._id))).status, 404)
    })
  )

  it.effect("sweeps recordings of no model at the start, where the database lies beside them", () =>
    Effect.gen(function* () {
      const models = yield* VoiceModels
      const blobs = yield* Blobs
      const { alone } = yield* Database
      const ws = yield* workspace("sweep")
      const kept = [yield* blob("a"), yield* blob("b", "covers"), yield* blob("c", "samples")]
      const orphans = [yield* blob("d"), yield* blob("e", "covers"), yield* blob("f", "samples")]
      const [voice = "", picture = "", said = ""] = kept
      const samples = [{ title: "Default Sample", text: "", blob: said }]
      const references = [{ blob: voice, text: "" }]
      yield* models.insert(ws, model("Kept", { references, samples, cover: { blob: picture, type: "image/png" } }))
      yield* Effect.scoped(Layer.build(Layer.fresh(VoiceModels.layer)))
      const exist = (names: ReadonlyArray<string>) => names.map((name) => existsSync(blobs.path(name)))
      assert.deepStrictEqual(exist(kept), [true, true, true])
      assert.deepStrictEqual(exist(orphans), [!alone, !alone, !alone])
    })
  )

  it.effect("removes the recordings with the model", () =>
    Effect.gen(function* () {
      const models = yield* VoiceModels
      const blobs = yield* Blobs
      const ws = yield* workspace("removal")
      const names = [yield* blob("a"), yield* blob("b")]
      const cover = yield* blob("c", "covers")
      const { _id } = yield* models.insert(
        ws,
        model("Gone", {
          references: names.map((name) => ({ blob: name, text: "" })),
          cover: { blob: cover, type: "image/png" }
        })
      )
      yield* models.remove(ws, _id)
      assert.isUndefined(yield* models.find(ws, _id))
      assert.deepStrictEqual(
        [...names, cover].map((name) => existsSync(blobs.path(name))),
        [false, false, false]
      )
    })
  )
})
