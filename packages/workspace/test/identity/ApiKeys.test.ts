import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { ApiKeys } from "../../src/identity/ApiKeys.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"
import { DataFolder } from "../../src/storage/Database.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"

const live = ApiKeys.layer.pipe(Layer.provideMerge(Workspaces.layer), Layer.provideMerge(TestDatabase.layer))

const [one, two] = ["one", "two"].map((name) => Redacted.make(`setting-${name}-${"x".repeat(32)}`)) as [
  Redacted.Redacted<string>,
  Redacted.Redacted<string>
]

/** As a start with this setting has it. */
const start = (given: Redacted.Redacted<string> | undefined) =>
  Effect.flatMap(ApiKeys, (keys) => Effect.flatMap(DataFolder, ({ path }) => keys.first(given, path)))
const opens = (key: Redacted.Redacted<string>) =>
  Effect.flatMap(ApiKeys, (keys) => Effect.map(keys.authenticate(key), (principal) => principal !== undefined))

layer(live, { excludeTestServices: true })("ApiKeys", (it) => {
  it.effect("retires the key of a changed setting, takes it back, and keeps one that was revoked by hand revoked", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      assert.strictEqual(yield* start(one), one)
      assert.strictEqual(yield* start(two), two)
      assert.deepStrictEqual([yield* opens(one), yield* opens(two)], [false, true])
      assert.strictEqual(yield* start(one), one)
      assert.deepStrictEqual([yield* opens(one), yield* opens(two)], [true, false])

      const [listed] = yield* keys.list
      assert.isTrue(yield* keys.revoke(listed?.id ?? ""))
      assert.isUndefined(yield* start(one))
      assert.isFalse(yield* opens(one))
      assert.strictEqual(yield* start(two), two)
      assert.isUndefined(yield* start(one))
      assert.deepStrictEqual([yield* opens(one), yield* opens(two)], [false, false])
    })
  )

  it.effect("revokes by hand a key that the setting retired", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const three = Redacted.make(`setting-three-${"x".repeat(32)}`)
      yield* start(three)
      const [listed] = yield* keys.list
      yield* start(two)
      assert.isTrue(yield* keys.revoke(listed?.id ?? ""))
      assert.isUndefined(yield* start(three))
      assert.isFalse(yield* opens(three))
    })
  )
})
