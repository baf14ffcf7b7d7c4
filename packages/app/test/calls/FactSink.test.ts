import { assert, describe, it } from "@effect/vitest"
import type { Fact } from "@parley/contract/Fact"
import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as FactSink from "../../src/calls/FactSink.ts"

const said = (id: string): Fact => ({
  _tag: "ItemRecorded",
  item: { type: "message", id, role: "user", content: `secret ${id}`, turn_id: "t", created_at: "2026-01-01T00:00:00Z" }
})
const ended: Fact = { _tag: "CallEnded", reason: "user_hangup", at: "2026-01-01T00:01:00Z" }
const nameOf = (fact: Fact) => (fact._tag === "ItemRecorded" && fact.item.type === "message" ? fact.item.id : fact._tag)

/** A store that fails while `failing` says so, and what it was given. */
const storeThat = (failing: (attempt: number, facts: ReadonlyArray<Fact>) => boolean) => {
  const stored: Array<ReadonlyArray<string>> = []
  let attempts = 0
  const store = (facts: ReadonlyArray<Fact>) =>
    Effect.suspend(() => {
      if (failing(++attempts, facts)) return Effect.die(new Error(`cannot store ${JSON.stringify(facts)}`))
      stored.push(facts.map(nameOf))
      return Effect.void
    })
  return { store, stored, attempts: () => attempts }
}

describe("FactSink", () => {
  it.effect("gathers facts for a moment, keeps their order and ends with the end", () =>
    Effect.gen(function* () {
      const { store, stored } = storeThat(() => false)
      const sink = yield* FactSink.make(store)
      const drained = yield* Effect.forkChild(sink.drain)
      for (const id of ["a", "b", "c"]) sink.remember(said(id))
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(stored, [])
      sink.remember(said("d"))
      yield* TestClock.adjust("150 millis")
      assert.deepStrictEqual(stored, [["a", "b", "c", "d"]])
      sink.remember(said("e"))
      sink.remember(ended)
      yield* TestClock.adjust("250 millis")
      yield* Fiber.join(drained)
      assert.deepStrictEqual(stored, [
        ["a", "b", "c", "d"],
        ["e", "CallEnded"]
      ])
    })
  )

  it.effect("stores an end that stands alone at once", () =>
    Effect.gen(function* () {
      const { store, stored } = storeThat(() => false)
      const sink = yield* FactSink.make(store)
      sink.remember(ended)
      yield* sink.drain
      assert.deepStrictEqual(stored, [["CallEnded"]])
    })
  )

  it.effect("tries a failed batch again while new facts wait their turn", () =>
    Effect.gen(function* () {
      const { store, stored } = storeThat((attempt) => attempt <= 2)
      const sink = yield* FactSink.make(store)
      const drained = yield* Effect.forkChild(sink.drain)
      sink.remember(said("a"))
      yield* TestClock.adjust("250 millis")
      sink.remember(said("b"))
      sink.remember(ended)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(drained)
      assert.deepStrictEqual(stored, [["a"], ["b", "CallEnded"]])
    })
  )

  it.effect("tells the end until it is stored, and logs nothing that was said", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, message }) => void lines.push(`${JSON.stringify(message)} ${String(cause)}`))
    return Effect.gen(function* () {
      // One fact that can never be stored, and a database that comes back late.
      const { attempts, store, stored } = storeThat((attempt, facts) => attempt <= 12 || facts.length > 1)
      const sink = yield* FactSink.make(store)
      const drained = yield* Effect.forkChild(sink.drain)
      sink.remember(said("a"))
      sink.remember(ended)
      yield* TestClock.adjust("10 minutes")
      yield* Fiber.join(drained)
      assert.deepStrictEqual(stored, [["CallEnded"]])
      assert.strictEqual(attempts(), 13)
      assert.strictEqual(lines.length, 1)
      assert.notInclude(lines.join(), "secret")
    }).pipe(Effect.provide(Logger.layer([logger])))
  })

  it.effect("waits for the results of tools that outlive their call, and then for nothing more", () =>
    Effect.gen(function* () {
      const { store, stored } = storeThat(() => false)
      const sink = yield* FactSink.make(store)
      const over = yield* Effect.forkChild(Effect.andThen(sink.drain, sink.rest))
      const call = { call_id: "c", tool_name: "t", tool_source: "webhook", turn_id: "u", created_at: "" } as const
      sink.remember({ _tag: "ItemRecorded", item: { type: "tool_call", ...call, input: "{}" } })
      sink.remember(ended)
      yield* TestClock.adjust("100 seconds")
      assert.deepStrictEqual(stored, [["ItemRecorded", "CallEnded"]])
      assert.isUndefined(over.pollUnsafe())
      const result = { status: "completed", output: "", output_truncated: false, error: null, latency_ms: 1 } as const
      sink.remember({ _tag: "ItemRecorded", item: { type: "tool_result", ...call, ...result } })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(over)
      assert.strictEqual(stored.length, 2)
    })
  )

  it.effect("says of tools that outlive the service what became of them", () =>
    Effect.gen(function* () {
      const stored: Array<Fact> = []
      const sink = yield* FactSink.make((facts) => Effect.sync(() => void stored.push(...facts)))
      const call = { call_id: "c", tool_name: "t", tool_source: "webhook", turn_id: "u" } as const
      const created_at = "1970-01-01T00:00:00.000Z"
      sink.remember({ _tag: "ItemRecorded", item: { type: "tool_call", ...call, input: "{}", created_at } })
      sink.remember(ended)
      const over = yield* Effect.forkChild(Effect.andThen(sink.drain, sink.rest))
      yield* TestClock.adjust("9 seconds")
      yield* Fiber.interrupt(over)
      const last = stored.at(-1)
      assert.deepInclude(last?._tag === "ItemRecorded" ? last.item : {}, {
        ...call,
        type: "tool_result",
        status: "failed",
        error: "cancelled: the service stopped",
        latency_ms: 9_000
      })
    })
  )
})
