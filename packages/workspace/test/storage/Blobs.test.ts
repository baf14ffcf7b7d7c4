import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Blobs } from "../../src/storage/Blobs.ts"
import { DataFolder } from "../../src/storage/Database.ts"

const withFolder = <A, E>(use: (folder: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "parley-blobs-"))),
    use,
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

const started = (path: string) => Layer.fresh(Blobs.layer).pipe(Layer.provide(Layer.succeed(DataFolder, { path })))

const put = (text: string) =>
  Effect.flatMap(Blobs, (blobs) => blobs.write("voices", (path) => Effect.sync(() => writeFileSync(path, text))))

describe("Blobs", () => {
  it.effect("keeps what was written whole, and nothing of what failed", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        const blobs = yield* Blobs
        const { name } = yield* put("sound")
        assert.strictEqual(readFileSync(blobs.path(name), "utf8"), "sound")
        const failed = blobs.write("voices", (path) =>
          Effect.andThen(
            Effect.sync(() => writeFileSync(path, "half")),
            Effect.fail("full" as const)
          )
        )
        assert.strictEqual(yield* Effect.flip(failed), "full")
        assert.deepStrictEqual(readdirSync(join(folder, "blobs", "incoming")), [])
        assert.lengthOf(readdirSync(join(folder, "blobs", "voices")), 1)
        yield* blobs.remove([name, name])
        assert.isFalse(existsSync(blobs.path(name)))
      }).pipe(Effect.provide(started(folder)))
    )
  )

  it.effect("reaches nothing but blobs", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        const blobs = yield* Blobs
        const id = "0".repeat(32)
        for (const name of [
          "",
          "..",
          "voices",
          `voices/../${id}`,
          `../voices/${id}`,
          `voices/${id}/x`,
          `incoming/${id}`,
          `/voices/${id}`,
          `voices/${id}\0`,
          `voices/${id}\n`
        ])
          assert.throws(() => blobs.path(name), "not the name of a blob")
      }).pipe(Effect.provide(started(folder)))
    )
  )

  it.effect("sweeps orphans, and what was being written when the process died", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        const [kept, orphan] = yield* Effect.all([put("kept"), put("orphan")]).pipe(Effect.provide(started(folder)))
        writeFileSync(join(folder, "blobs", "incoming", "dead"), "half")
        yield* Effect.gen(function* () {
          const blobs = yield* Blobs
          assert.deepStrictEqual(readdirSync(join(folder, "blobs", "incoming")), [])
          assert.strictEqual(yield* blobs.sweep("voices", new Set([kept.name])), 1)
          assert.isTrue(existsSync(blobs.path(kept.name)))
          assert.isFalse(existsSync(blobs.path(orphan.name)))
        }).pipe(Effect.provide(started(folder)))
      })
    )
  )
})
