import { assert, describe, it } from "@effect/vitest"
import type { KeyScope } from "@parley/contract/ApiKey"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Effect, Fiber, Layer, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { CurrentConnection } from "../../src/http/clientAddress.ts"
import { KeyCheck } from "../../src/http/KeyCheck.ts"
import { Settings } from "../../src/Settings.ts"
import { testConfig } from "../../src/testing/testConfig.ts"

const owner = { keyId: "key_1", workspaceId: "workspace_1", scopes: ["read", "speak"], expiresAt: null } as const
const keys = Layer.mock(ApiKeys, {
  authenticate: (key) => Effect.succeed(Redacted.value(key) === "right" ? owner : undefined)
})
const layer = KeyCheck.layer.pipe(
  Layer.provide(keys),
  Layer.provide(Layer.succeed(Settings, testConfig("unused"))),
  Layer.fresh
)

const check = (key: string, remote = "203.0.113.7", scope: KeyScope = "read") =>
  Effect.flatMap(KeyCheck, ({ authenticate }) => authenticate(Redacted.make(key), scope)).pipe(
    Effect.provideService(CurrentConnection, { remote, forwardedFor: undefined })
  )

describe("KeyCheck", () => {
  it.effect("answers wrong keys later and later, and right ones at once", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 10; i++) assert.isUndefined(yield* check("wrong"))
      const late = yield* Effect.forkChild(check("wrong"))
      yield* TestClock.adjust(249)
      assert.isUndefined(late.pollUnsafe())
      assert.deepStrictEqual(yield* check("right"), owner)
      assert.isUndefined(yield* check("wrong", "198.51.100.1"))
      yield* TestClock.adjust(1)
      assert.isUndefined(yield* Fiber.join(late))
      yield* TestClock.adjust(60_000)
      assert.isUndefined(yield* check("wrong"))
    }).pipe(Effect.provide(layer))
  )

  it.effect("refuses a right key without the scope, at once and by name", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(check("right", undefined, "manage"))
      assert.deepStrictEqual([refused.status, refused.message], [403, "This API key lacks the scope manage"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("keeps few waiting", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 10; i++) yield* check("wrong")
      const waiting = yield* Effect.forEach(Array.from({ length: 8 }), () => Effect.forkChild(check("wrong")))
      yield* TestClock.adjust(1)
      const refused = yield* Effect.result(check("wrong"))
      assert.isTrue(Result.isFailure(refused) && refused.failure.status === 429)
      assert.deepStrictEqual(yield* check("right"), owner)
      yield* Fiber.interruptAll(waiting)
      const next = yield* Effect.forkChild(check("wrong"))
      yield* TestClock.adjust(10_000)
      assert.isUndefined(yield* Fiber.join(next))
    }).pipe(Effect.provide(layer))
  )
})
