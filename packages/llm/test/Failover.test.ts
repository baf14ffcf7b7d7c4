import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { ChatRequest } from "../src/ChatModel.ts"
import * as Failover from "../src/Failover.ts"
import { makeScriptedChatModel } from "../src/testing/ScriptedChatModel.ts"

const request: ChatRequest = { messages: [{ role: "user", content: "hello" }], tools: [], extra: {} }
const textOf = (model: Failover.FailoverChat) =>
  Stream.runCollect(model.stream(request)).pipe(
    Effect.map((deltas) => deltas.map((delta) => (delta._tag === "Text" ? delta.text : "")).join(""))
  )
const healthOf = (model: Failover.FailoverChat) => model.health().map(({ healthy }) => healthy)

describe("Failover", () => {
  it.effect("hands over from a model that says nothing, and cancels it", () =>
    Effect.gen(function* () {
      const mute = makeScriptedChatModel([{ firstWordMs: Infinity }])
      const other = makeScriptedChatModel(["I am here"], { firstWordMs: 100 })
      const model = Failover.make([mute, other])
      const answer = yield* Effect.forkChild(textOf(model))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(answer), "I am here")
      assert.strictEqual(mute.cancelled(), 1)
      assert.deepStrictEqual(healthOf(model), [false, true])
      // It rests: the next answer does not wait for it.
      const next = yield* Effect.forkChild(textOf(model))
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* Fiber.join(next), "I am here")
      assert.strictEqual(mute.requests.length, 1)
    })
  )

  it.effect("names the last model unhealthy when it says nothing either", () =>
    Effect.gen(function* () {
      const model = Failover.make([makeScriptedChatModel([{ firstWordMs: Infinity }])])
      const answer = yield* Effect.forkChild(Effect.flip(textOf(model)))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual((yield* Fiber.join(answer)).reason, "Timeout")
      assert.deepStrictEqual(healthOf(model), [false])
    })
  )

  it.effect("bounds the first word only: a slow talker is heard to the end", () =>
    Effect.gen(function* () {
      const slow = makeScriptedChatModel(["one two three"], { firstWordMs: 100, msPerWord: 3_500 })
      const other = makeScriptedChatModel(["never asked"])
      const answer = yield* Effect.forkChild(textOf(Failover.make([slow, other])))
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(yield* Fiber.join(answer), "one two three")
      assert.strictEqual(other.requests.length, 0)
    })
  )
})
