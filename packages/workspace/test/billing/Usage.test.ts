import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Billing } from "../../src/billing/Billing.ts"
import { unit } from "../../src/billing/Money.ts"
import { Platform } from "../../src/Platform.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { Usage } from "../../src/billing/Usage.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["default"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: 5n * unit
})

const live = Layer.mergeAll(Billing.layer.pipe(Layer.provide(platform)), Usage.layer, Workspaces.layer).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

layer(live, { excludeTestServices: true })("Usage", (it) => {
  it.effect("lists every entry newest first, its cost exact, and nobody else's", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const usage = yield* Usage
      const ws = yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("usage"))
      const other = yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("others"))
      yield* billing.charge(other, { kind: "agent", seconds: 600 })
      yield* billing.charge(ws, { kind: "tts", model: "s1", bytes: 7 })
      yield* billing.charge(ws, { kind: "asr", model: "transcribe-1", seconds: 2.5 })
      yield* billing.charge(ws, { kind: "agent", seconds: 61 })

      const first = yield* usage.list(ws, { page_size: 2, include_total: "true" })
      assert.deepStrictEqual(
        first.items.map(({ cost, kind, model, quantity }) => [kind, model, quantity, cost]),
        [
          ["agent", "", 61, "0.061"],
          ["asr", "transcribe-1", 3, "0.0003"]
        ]
      )
      assert.deepStrictEqual([first.has_more, first.total], [true, 3])
      const second = yield* usage.list(ws, { page_size: 2, cursor: first.next_cursor ?? "" })
      assert.deepStrictEqual(
        second.items.map(({ cost, kind }) => [kind, cost]),
        [["tts", "0.000105"]]
      )
      const ofKind = yield* usage.list(ws, { kind: "asr" })
      assert.strictEqual(ofKind.items.length, 1)
      const future = yield* usage.list(ws, { created_after: new Date(Date.now() + 3_600_000).toISOString() })
      assert.strictEqual(future.items.length, 0)
    })
  )

  it.effect("sums a day by kind and model, and leaves older days out", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const usage = yield* Usage
      const sql = yield* SqlClient.SqlClient
      const ws = yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("days"))
      for (const bytes of [10, 20, 30]) yield* billing.charge(ws, { kind: "tts", model: "s1", bytes })
      yield* billing.charge(ws, { kind: "agent", seconds: 5 })
      yield* sql`INSERT INTO usage_entries (workspace_id, kind, model, quantity, cost_nano, created_at)
        VALUES (${ws}, 'agent', '', 9, 9000000, now() - interval '3 days')`
      const today = yield* usage.byDay(ws, 1)
      assert.deepStrictEqual(
        today.days.map(({ cost, entries, kind, quantity }) => ({ cost, entries, kind, quantity })),
        [
          { kind: "agent", quantity: 5, entries: 1, cost: "0.005" },
          { kind: "tts", quantity: 60, entries: 3, cost: "0.0009" }
        ]
      )
      assert.strictEqual(today.cost, "0.0059")
      const week = yield* usage.byDay(ws, 7)
      assert.deepStrictEqual([week.days.length, week.days.at(-1)?.quantity, week.cost], [3, 9, "0.0149"])
    })
  )
})
