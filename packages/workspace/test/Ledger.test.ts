import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger, tierOf } from "../src/Ledger.ts"
import { decimalOf, unit } from "../src/Money.ts"
import { Platform } from "../src/Platform.ts"
import { priceInWords, Prices } from "../src/Prices.ts"
import * as TestDatabase from "../src/testing/TestDatabase.ts"
import { Workspaces } from "../src/Workspaces.ts"

const platform = (trialBalance: bigint | "unlimited") =>
  Layer.succeed(Platform, {
    voices: new Set<string>(),
    asrModels: ["vendor:transcribe-1"],
    llmModels: ["default"],
    allowedPrivate: [],
    cloning: false,
    trialBalance
  })

const live = Layer.mergeAll(Ledger.layer.pipe(Layer.provide(platform(5n * unit))), Prices.layer, Workspaces.layer).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

const workspace = (name: string) => Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure(name))

layer(live, { excludeTestServices: true })("Ledger", (it) => {
  it.effect("starts with the trial, and charges what the price list says, to the nano-unit", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const ws = yield* workspace("prices")
      assert.deepInclude(yield* ledger.admit(ws), { balance: 5n * unit, toppedUp: 0n, concurrency: 5 })
      const costs = [
        [{ kind: "tts", model: "s2.1-pro", bytes: 1 }, "0.000015"],
        [{ kind: "tts", model: "s2.1-pro-free", bytes: 1_000_000 }, "0"],
        [{ kind: "tts", model: "s1", bytes: 0 }, "0"],
        [{ kind: "asr", model: "transcribe-1", seconds: 9.2 }, "0.001"],
        [{ kind: "voice_design", model: "voice-design-1" }, "0.01"],
        [{ kind: "agent", seconds: 60 }, "0.06"]
      ] as const
      for (const [usage, cost] of costs) {
        const before = yield* ledger.account(ws)
        yield* ledger.charge(ws, usage)
        assert.strictEqual(decimalOf(before.balance - (yield* ledger.account(ws)).balance), cost, usage.kind)
      }
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ sum: string; n: number }>`SELECT sum(cost_nano)::text AS sum, count(*)::int AS n
        FROM usage_entries WHERE workspace_id = ${ws}`
      const { balance, trialLeft } = yield* ledger.account(ws)
      assert.deepStrictEqual(rows[0], { sum: String(5n * unit - balance), n: costs.length })
      assert.strictEqual(trialLeft, balance)
    })
  )

  it.effect("loses no charge of many at the same time", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const ws = yield* workspace("many")
      yield* Effect.forEach(
        Array.from({ length: 100 }),
        () => ledger.charge(ws, { kind: "voice_design", model: "voice-design-1" }),
        { concurrency: 20, discard: true }
      )
      assert.strictEqual(decimalOf((yield* ledger.account(ws)).balance), "4")
    })
  )

  it.effect("counts the work though the caller is interrupted", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const ws = yield* workspace("interrupted")
      const charging = yield* Effect.forkChild(ledger.charge(ws, { kind: "agent", seconds: 60 }), {
        startImmediately: true
      })
      yield* Fiber.interrupt(charging)
      assert.strictEqual(decimalOf((yield* ledger.account(ws)).balance), "4.94")
    })
  )

  it.effect("refuses once the balance is spent, except what is free, until there is a top-up", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const ws = yield* workspace("spent")
      yield* ledger.admit(ws)
      yield* ledger.charge(ws, { kind: "tts", model: "s1", bytes: 400_000 })
      const refused = yield* Effect.flip(ledger.admit(ws, { kind: "tts", model: "s1" }))
      assert.deepInclude(refused, { status: 402, reason: null })
      assert.strictEqual((yield* Effect.flip(ledger.admit(ws))).status, 402)
      assert.strictEqual((yield* ledger.admit(ws, { kind: "tts", model: "s2.1-pro-free" })).balance, -unit)
      const account = yield* ledger.credit(ws, 100n * unit, "invoice 1")
      assert.deepInclude(account, { balance: 99n * unit, toppedUp: 100n * unit, concurrency: 15, trialLeft: 0n })
      yield* ledger.admit(ws)
      assert.strictEqual((yield* ledger.allow(ws, 7)).concurrency, 7)
      assert.strictEqual((yield* ledger.allow(ws, null)).concurrency, 15)
    })
  )

  it.effect("keeps workspaces apart", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const [one, two] = [yield* workspace("one"), yield* workspace("two")]
      yield* ledger.charge(one, { kind: "agent", seconds: 600 })
      assert.strictEqual((yield* ledger.account(two)).balance, 5n * unit)
      assert.notStrictEqual((yield* ledger.account(one)).walletId, (yield* ledger.account(two)).walletId)
    })
  )

  it.effect("takes changed prices at once, and knows a model's own price", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const prices = yield* Prices
      const ws = yield* workspace("changed")
      assert.deepStrictEqual(yield* prices.set("tts:house-voice", 20n * unit), {
        name: "tts:house-voice",
        amount: 20n * unit,
        per: 1_000_000n,
        piece: "byte"
      })
      assert.isUndefined(yield* prices.set("coffee", unit))
      yield* ledger.charge(ws, { kind: "tts", model: "house-voice", bytes: 50_000 })
      assert.strictEqual(decimalOf((yield* ledger.account(ws)).balance), "4")
      const words = (yield* prices.list).map((price) => `${price.name} ${priceInWords(price)}`)
      assert.include(words, "asr 0.36 per 3600 seconds")
      assert.include(words, "voice_design 0.01 per request")
    })
  )

  it.effect("refuses nothing for money where the setting says so", () =>
    Effect.gen(function* () {
      const ws = yield* workspace("free house")
      const ledger = yield* Ledger
      yield* ledger.charge(ws, { kind: "agent", seconds: 600_000 })
      assert.deepInclude(yield* ledger.admit(ws), { unlimited: true, concurrency: 50 })
    }).pipe(Effect.provide(Layer.fresh(Ledger.layer).pipe(Layer.provide(platform("unlimited")))))
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
