import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Billing } from "../../src/billing/Billing.ts"
import { tierOf } from "../../src/billing/tiers.ts"
import { decimalOf, unit } from "../../src/billing/Money.ts"
import { Platform } from "../../src/Platform.ts"
import { formatPrice, Prices } from "../../src/billing/Prices.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = (trialBalance: bigint | "unlimited" | undefined) =>
  Layer.succeed(Platform, {
    voices: new Set<string>(),
    asrModels: ["vendor:transcribe-1"],
    llmModels: ["default"],
    allowedPrivate: [],
    cloning: false,
    trialBalance
  })

const live = Layer.mergeAll(
  Billing.layer.pipe(Layer.provide(platform(5n * unit))),
  Prices.layer,
  Workspaces.layer
).pipe(Layer.provideMerge(TestDatabase.layer))

const workspace = (name: string) => Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure(name))

layer(live, { excludeTestServices: true })("Billing", (it) => {
  it.effect("starts with the trial, and charges what the price list says, to the nano-unit", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const ws = yield* workspace("prices")
      assert.deepInclude(yield* billing.admit(ws), { balance: 5n * unit, toppedUp: 0n, concurrency: 5 })
      const costs = [
        [{ kind: "tts", model: "s2.1-pro", bytes: 1 }, "0.000015"],
        [{ kind: "tts", model: "s2.1-pro-free", bytes: 1_000_000 }, "0"],
        [{ kind: "tts", model: "s1", bytes: 0 }, "0"],
        [{ kind: "asr", model: "transcribe-1", seconds: 9.2 }, "0.001"],
        [{ kind: "voice_design", model: "voice-design-1" }, "0.01"],
        [{ kind: "agent", seconds: 60 }, "0.06"]
      ] as const
      for (const [usage, cost] of costs) {
        const before = yield* billing.account(ws)
        yield* billing.charge(ws, usage)
        assert.strictEqual(decimalOf(before.balance - (yield* billing.account(ws)).balance), cost, usage.kind)
      }
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ sum: string; n: number }>`SELECT sum(cost_nano)::text AS sum, count(*)::int AS n
        FROM usage_entries WHERE workspace_id = ${ws}`
      const { balance, trialLeft } = yield* billing.account(ws)
      assert.deepStrictEqual(rows[0], { sum: String(5n * unit - balance), n: costs.length })
      assert.strictEqual(trialLeft, balance)
    })
  )

  it.effect("loses no charge of many at the same time", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const ws = yield* workspace("many")
      yield* Effect.forEach(
        Array.from({ length: 100 }),
        () => billing.charge(ws, { kind: "voice_design", model: "voice-design-1" }),
        { concurrency: 20, discard: true }
      )
      assert.strictEqual(decimalOf((yield* billing.account(ws)).balance), "4")
    })
  )

  it.effect("counts the work though the caller is interrupted", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const ws = yield* workspace("interrupted")
      const charging = yield* Effect.forkChild(billing.charge(ws, { kind: "agent", seconds: 60 }), {
        startImmediately: true
      })
      yield* Fiber.interrupt(charging)
      assert.strictEqual(decimalOf((yield* billing.account(ws)).balance), "4.94")
    })
  )

  it.effect("refuses once the balance is spent, except what is free, until there is a top-up", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const ws = yield* workspace("spent")
      yield* billing.admit(ws)
      yield* billing.charge(ws, { kind: "tts", model: "s1", bytes: 400_000 })
      const refused = yield* Effect.flip(billing.admit(ws, { kind: "tts", model: "s1" }))
      assert.deepInclude(refused, { status: 402, reason: null })
      assert.strictEqual((yield* Effect.flip(billing.admit(ws))).status, 402)
      assert.strictEqual((yield* billing.admit(ws, { kind: "tts", model: "s2.1-pro-free" })).balance, -unit)
      const account = yield* billing.credit(ws, 100n * unit, "invoice 1")
      assert.deepInclude(account, { balance: 99n * unit, toppedUp: 100n * unit, concurrency: 15, trialLeft: 0n })
      yield* billing.admit(ws)
      assert.strictEqual((yield* billing.allow(ws, 7)).concurrency, 7)
      assert.strictEqual((yield* billing.allow(ws, null)).concurrency, 15)
    })
  )

  it.effect("keeps workspaces apart", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const [one, two] = [yield* workspace("one"), yield* workspace("two")]
      yield* billing.charge(one, { kind: "agent", seconds: 600 })
      assert.strictEqual((yield* billing.account(two)).balance, 5n * unit)
      assert.notStrictEqual((yield* billing.account(one)).walletId, (yield* billing.account(two)).walletId)
    })
  )

  it.effect("takes changed prices at once, and knows a model's own price", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const prices = yield* Prices
      const ws = yield* workspace("changed")
      assert.deepStrictEqual(yield* prices.set("tts:house-voice", 20n * unit), {
        name: "tts:house-voice",
        amount: 20n * unit,
        per: 1_000_000n,
        piece: "byte"
      })
      assert.isUndefined(yield* prices.set("coffee", unit))
      yield* billing.charge(ws, { kind: "tts", model: "house-voice", bytes: 50_000 })
      assert.strictEqual(decimalOf((yield* billing.account(ws)).balance), "4")
      const words = (yield* prices.list).map((price) => `${price.name} ${formatPrice(price)}`)
      assert.include(words, "asr 0.36 per 3600 seconds")
      assert.include(words, "voice_design 0.01 per request")
    })
  )

  it.effect("refuses nothing for money where the setting says so", () =>
    Effect.gen(function* () {
      const ws = yield* workspace("free house")
      const billing = yield* Billing
      yield* billing.charge(ws, { kind: "agent", seconds: 600_000 })
      assert.deepInclude(yield* billing.admit(ws), { unlimited: true, concurrency: 50 })
    }).pipe(Effect.provide(Layer.fresh(Billing.layer).pipe(Layer.provide(platform("unlimited")))))
  )

  it.effect("leaves the operator's own workspace without limit where nothing is set, and no other", () =>
    Effect.gen(function* () {
      const [own, other] = [yield* workspace("default"), yield* workspace("a customer")]
      const billing = yield* Billing
      for (const ws of [own, other]) yield* billing.charge(ws, { kind: "agent", seconds: 83 * 60 })
      assert.deepInclude(yield* billing.admit(own), { unlimited: true, balance: 5n * unit - 4_980_000_000n })
      for (const ws of [own, other]) yield* billing.charge(ws, { kind: "agent", seconds: 60 })
      assert.strictEqual((yield* billing.admit(own)).unlimited, true)
      assert.deepInclude(yield* Effect.flip(billing.admit(other)), { status: 402 })
    }).pipe(Effect.provide(Layer.fresh(Billing.layer).pipe(Layer.provide(platform(undefined)))))
  )

  it.effect("holds the operator's own workspace to what is set", () =>
    Effect.gen(function* () {
      const own = yield* workspace("default")
      assert.deepInclude(yield* Effect.flip((yield* Billing).admit(own)), { status: 402 })
    }).pipe(Effect.provide(Layer.fresh(Billing.layer).pipe(Layer.provide(platform(5n * unit)))))
  )

  it.effect("knows the tiers", () =>
    Effect.sync(() =>
      assert.deepStrictEqual(
        [0n, 100n * unit - 1n, 100n * unit, 1000n * unit - 1n, 1000n * unit].map(tierOf),
        [5, 5, 15, 15, 50]
      )
    )
  )
})
