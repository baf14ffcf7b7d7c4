import { assert, layer } from "@effect/vitest"
import type { VoiceModelCreate } from "@parley/contract/VoiceModel"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DesignSignatures } from "../../src/voices/DesignSignatures.ts"
import { Platform } from "../../src/Platform.ts"
import { DataFolder } from "../../src/storage/Database.ts"
import { fakeRecognition, fakeSynthesis, fakeUploads } from "../../src/testing/FakeRecordings.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { VoiceModels } from "../../src/voices/VoiceModels.ts"
import { type Recordings, VoiceTraining } from "../../src/voices/VoiceTraining.ts"
import * as Workspace from "../../src/Workspace.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = (cloning: boolean) =>
  Layer.succeed(Platform, {
    voices: new Set<string>(),
    asrModels: ["vendor:transcribe-1"],
    llmModels: ["default"],
    allowedPrivate: [],
    cloning,
    trialBalance: "unlimited"
  })

const live = VoiceTraining.layer.pipe(
  Layer.provide([fakeUploads, fakeRecognition, fakeSynthesis]),
  Layer.provideMerge(Workspace.layer(undefined)),
  Layer.provideMerge(Layer.mergeAll(platform(false), TestDatabase.layer))
)

const folder = mkdtempSync(join(tmpdir(), "parley-training-"))
let files = 0
const file = (content: string | Uint8Array): string => {
  const path = join(folder, `${files++}`)
  writeFileSync(path, content)
  return path
}
const recordings = (...contents: readonly [string, ...ReadonlyArray<string>]): Recordings => {
  const [first, ...rest] = contents.map((content, i) => ({ filename: `${i}.wav`, file: file(content) }))
  if (first === undefined) throw new Error("at least one")
  return [first, ...rest]
}

const plain: VoiceModelCreate = { type: "tts", title: "Ada", train_mode: "fast" }
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

const create = (fields: VoiceModelCreate, voices: Recordings, cover?: string) =>
  Effect.gen(function* () {
    const ws = yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("default"))
    const training = yield* VoiceTraining
    return { ws, model: yield* training.create(ws, fields, voices, cover) }
  })

const blobsOf = (area: string) =>
  Effect.map(DataFolder, ({ path }) => readdirSync(join(path, "blobs", area)).toSorted())

layer(live, { excludeTestServices: true })("VoiceTraining", (it) => {
  it.effect("makes a model that is usable at once, of all it was given", () =>
    Effect.gen(function* () {
      const { model, ws } = yield* create(
        { ...plain, tags: "calm,deep", texts: ["said", ""], description: null, visibility: "public" },
        recordings("first one", "the second and longer one"),
        file(png)
      )
      assert.deepInclude(model, {
        title: "Ada",
        state: "trained",
        visibility: "private",
        description: "",
        source: null,
        tags: ["calm", "deep"],
        languages: ["en"],
        default_text: "said",
        cover_image: `/model/${model._id}/cover`
      })
      assert.deepStrictEqual(model.quality?.audios[0], {
        filename: "0.wav",
        duration_ms: 900,
        language: "unknown",
        quality: { voiced_share: 0.5, level_dbfs: -20, peak_dbfs: -200, clipped_share: 0 },
        quality_passed: true,
        quality_reason: "adapted: a voice of the serving engine is bent towards the recording; it is not cloned"
      })
      const models = yield* VoiceModels
      const record = yield* models.find(ws, model._id)
      const character = record && models.character(record)
      assert.strictEqual(character?.profile?.pitchHz, "the second and longer one".length)
      assert.deepStrictEqual(
        character?.references.map((one) => [readFileSync(one.file, "utf8"), one.text]),
        [
          ["wav of first one", "said"],
          ["wav of the second and longer one", "heard the second and longer one"]
        ]
      )
    })
  )

  it.effect("names the recording it refuses, and keeps nothing of any", () =>
    Effect.gen(function* () {
      const before = [yield* blobsOf("voices"), yield* blobsOf("covers")]
      const refusals = [
        [plain, recordings("good", "silent here"), undefined, 400, "voices[1]: the recording is silent"],
        [plain, recordings("text file"), undefined, 400, "voices[0]: this is no audio"],
        [plain, recordings("long".repeat(2000)), undefined, 400, "voices[0]: at most 10 minutes are taken"],
        [
          { ...plain, texts: ["a", "b"] },
          recordings("good"),
          undefined,
          422,
          "texts: must not be more than the voices"
        ],
        [plain, recordings("good"), file("<svg/>"), 422, "cover_image: must be a PNG, JPEG, GIF or WebP image"]
      ] as const
      for (const [fields, voices, cover, status, message] of refusals) {
        const refused = yield* Effect.flip(create(fields, voices, cover))
        assert.deepStrictEqual([refused.status, refused.message], [status, message])
      }
      assert.deepStrictEqual([yield* blobsOf("voices"), yield* blobsOf("covers")], before)
      assert.deepStrictEqual(yield* blobsOf("incoming"), [])
    })
  )

  it.effect("does without words that no recogniser knows", () =>
    Effect.gen(function* () {
      const { model } = yield* create(plain, recordings("mumbled"))
      assert.deepInclude(model, { default_text: "", languages: [], state: "trained" })
    })
  )

  it.effect("believes only signatures of these very clips, all of them", () =>
    Effect.gen(function* () {
      const ws = yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("default"))
      const signatures = yield* DesignSignatures
      const sign = (content: string, workspaceId = ws) =>
        signatures.sign({ workspaceId, candidateId: "c1", audio: Buffer.from(content) })
      const right = [yield* sign("clip one"), yield* sign("clip two")]
      const made = yield* create({ ...plain, voice_design_signatures: right }, recordings("clip one", "clip two"))
      assert.strictEqual(made.model.source, "voice_design")
      const joined = yield* create(
        { ...plain, voice_design_signatures: right.join(",") },
        recordings("clip one", "clip two")
      )
      assert.strictEqual(joined.model.source, "voice_design")
      for (const wrong of [
        right.toReversed(),
        [right[0] ?? "", "x"],
        [right[0] ?? "", yield* sign("clip two", "other")]
      ]) {
        const refused = yield* Effect.flip(
          create({ ...plain, voice_design_signatures: wrong }, recordings("clip one", "clip two"))
        )
        assert.deepInclude(refused, { status: 400, reason: "invalid_voice_design_signature" })
      }
      const few = yield* Effect.flip(
        create({ ...plain, voice_design_signatures: right[0] ?? "" }, recordings("clip one", "b"))
      )
      assert.strictEqual(few.status, 422)
    })
  )

  it.effect("says nothing of adapting where the engine clones", () =>
    Effect.gen(function* () {
      const { model } = yield* create(plain, recordings("good"))
      assert.strictEqual(model.quality?.audios[0]?.quality_reason, "")
    }).pipe(
      Effect.provide(
        Layer.fresh(VoiceTraining.layer).pipe(
          Layer.provide([fakeUploads, fakeRecognition, fakeSynthesis, platform(true)])
        )
      )
    )
  )

  it.effect("says something with the new voice when asked to, and does without where it cannot", () =>
    Effect.gen(function* () {
      const models = yield* VoiceModels
      const { model, ws } = yield* create({ ...plain, generate_sample: true, texts: "said" }, recordings("good"))
      const [sample] = model.samples
      assert.deepInclude(sample, { text: "said", audio: `/model/${model._id}/samples/${sample?.task_id}` })
      const path = yield* models.sample(ws, model._id, sample?.task_id ?? "")
      assert.strictEqual(readFileSync(path, "utf8"), "sound of wav of good")
      assert.strictEqual((yield* Effect.flip(models.sample(ws, model._id, "other"))).status, 404)
      yield* models.remove(ws, model._id)
      assert.isFalse(existsSync(path))
      const mute = yield* create({ ...plain, generate_sample: true }, recordings("dumb"))
      assert.deepStrictEqual([mute.model.samples, yield* blobsOf("samples")], [[], []])
    })
  )

  it.effect("waits for words only so long", () =>
    Effect.gen(function* () {
      const creating = yield* Effect.forkChild(create(plain, recordings("endless", "endless two", "endless three")))
      // Real time passes for the database, the clock of the test for the bound.
      while (creating.pollUnsafe() === undefined) {
        yield* TestClock.adjust("10 seconds")
        yield* Effect.promise(() => new Promise((resume) => setTimeout(resume, 2)))
      }
      const { model } = yield* Fiber.join(creating)
      assert.strictEqual(model.default_text, "")
    }).pipe(Effect.provide(TestClock.layer()))
  )
})

process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
