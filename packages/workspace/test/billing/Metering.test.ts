// Work that is charged while it runs. Prices are the seeded ones: an agent's second is 0.001 units, a byte of speech
// 0.000015.
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Billing } from "../../src/billing/Billing.ts"
import type { MeteredWork } from "../../src/billing/Meter.ts"
import { decimalOf, unit } from "../../src/billing/Money.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"
import { Platform } from "../../src/Platform.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["default"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: unit / 1000n
})

const live = Layer.mergeAll(Billing.layer.pipe(Layer.provide(platform)), Workspaces.layer).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

const workspace = (name: string) => Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure(name))

const talk: MeteredWork = { kinds: ["agent"], timed: true }
const speech: MeteredWork = { kinds: ["tts"], model: "s1" }

const entriesOf = Effect.fnUntraced(function* (ws: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ kind: string; quantity: number; cost: string }>`SELECT kind, quantity::int,
    cost_nano::text AS cost FROM usage_entries WHERE workspace_id = ${ws} ORDER BY seq`
})

/** The balance is the sum of the entries, whatever was written when. */
const assertSums = Effect.fnUntraced(function* (ws: string) {
  const sum = (yield* entriesOf(ws)).reduce((nano, { cost }) => nano + BigInt(cost), 0n)
  const { balance, toppedUp, trial } = yield* (yield* Billing).account(ws)
  assert.strictEqual(balance, trial + toppedUp - sum)
})

const balanceOf = (ws: string) =>
  Effect.flatMap(Billing, (billing) => Effect.map(billing.account(ws), ({ balance }) => decimalOf(balance)))

layer(live, { excludeTestServices: true })("metering", (it) => {
  it.effect("lets many works share one balance, and tells all of them when it is spent", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const ws = yield* workspace("many calls")
      yield* billing.credit(ws, unit / 100n, "")
      const began = Date.now()
      // Eleven seconds of talk, shared by five who talk at once.
      const one = Effect.scoped(
        Effect.gen(function* () {
          const meter = yield* billing.meter(ws, talk)
          yield* Effect.flip(meter.spent)
          yield* meter.charge((Date.now() - began) / 1000)
        })
      )
      yield* Effect.all([one, one, one, one, one], { concurrency: "unbounded", discard: true })
      assert.isBelow(Date.now() - began, 7_000)
      const { balance } = yield* billing.account(ws)
      assert.isTrue(balance <= 0n && balance > -(unit / 50n), decimalOf(balance))
      assert.deepInclude(yield* Effect.flip(Effect.scoped(billing.meter(ws, talk))), { status: 402 })
      assert.lengthOf(yield* entriesOf(ws), 5)
      yield* assertSums(ws)
    })
  )

  it.effect("takes no more than what is left, whoever asks", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const ws = yield* workspace("texts")
      const [one, other] = [yield* billing.meter(ws, speech), yield* billing.meter(ws, speech)]
      assert.deepStrictEqual([one.take(40), other.take(40), other.take(20)], [true, false, true])
      assert.strictEqual((yield* billing.admit(ws)).balance, unit / 1000n)
      yield* one.charge(40)
      assert.strictEqual(other.take(7), false)
      yield* other.charge(20)
      assert.strictEqual(yield* balanceOf(ws), "0.0001")
      assert.isTrue((yield* billing.meter(ws, { kinds: ["tts"], model: "s2.1-pro-free" })).take(10 ** 9))
      yield* assertSums(ws)
    }).pipe(Effect.scoped)
  )

  it.effect("shows in the balance while it runs, and gives back what is not charged in the end", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const ws = yield* workspace("given back")
      const scope = yield* Scope.make()
      const meter = yield* Scope.provide(billing.meter(ws, speech), scope)
      meter.take(20)
      yield* Effect.sleep("2500 millis")
      assert.strictEqual(yield* balanceOf(ws), "0.0007")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* balanceOf(ws), "0.001")
      yield* assertSums(ws)
    })
  )

  it.effect("is replaced by what the end of its session charges, once", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const ws = yield* workspace("session")
      yield* billing.credit(ws, unit, "")
      yield* billing.meter(ws, { kinds: ["agent", "phone"], timed: true, session: "session_x" })
      yield* Effect.sleep("2500 millis")
      assert.isAtLeast((yield* entriesOf(ws)).length, 2)
      yield* billing.charge(ws, { kind: "agent", seconds: 60 }, "session_x")
      yield* billing.charge(ws, { kind: "phone", seconds: 60 }, "session_x")
      yield* Effect.sleep("1500 millis")
      yield* billing.charge(ws, { kind: "agent", seconds: 60 }, "session_x")
      const entries = yield* entriesOf(ws)
      assert.sameDeepMembers(
        entries.map(({ kind, quantity }) => [kind, quantity]),
        [
          ["agent", 60],
          ["phone", 60]
        ]
      )
      assert.strictEqual(yield* balanceOf(ws), "0.931")
      yield* assertSums(ws)
    }).pipe(Effect.scoped)
  )

  it.effect("is told within two seconds of what another process took", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const ws = yield* workspace("two processes")
      yield* billing.credit(ws, 10n * unit, "")
      const meter = yield* billing.meter(ws, talk)
      const free = yield* billing.meter(ws, { kinds: ["tts"], model: "s2.1-pro-free" })
      const elsewhere = yield* Layer.build(Layer.fresh(Billing.layer).pipe(Layer.provide(platform)))
      yield* Effect.provide(
        Effect.flatMap(Billing, (other) => other.credit(ws, -20n * unit, "taken back")),
        elsewhere
      )
      yield* Effect.timeout(Effect.flip(meter.spent), "3 seconds")
      assert.isTrue((yield* Effect.timeoutOption(Effect.flip(free.spent), "1500 millis"))._tag === "None")
    }).pipe(Effect.scoped)
  )
})
