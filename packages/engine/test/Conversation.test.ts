// One conversation as its owner holds it: ended from outside, interrupted, with and without a recogniser.
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { EndReason } from "@parley/contract/EndReason"
import type { Fact } from "@parley/contract/Fact"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import { makeScriptedSynthesizer } from "@parley/speech/testing/ScriptedSynthesizer"
import { makeScriptedVoiceActivity } from "@parley/speech/testing/ScriptedVoiceActivity"
import { defaultPlan } from "../src/CallPlan.ts"
import * as Conversation from "../src/Conversation.ts"
import { CallParts, ToolFailure } from "../src/ports/CallParts.ts"
import * as FakeLeg from "../src/testing/FakeLeg.ts"
import * as VirtualPacer from "../src/testing/VirtualPacer.ts"

const parts = Layer.sync(CallParts, () => ({
  synthesizer: makeScriptedSynthesizer(),
  transcriber: undefined,
  voiceActivity: makeScriptedVoiceActivity(),
  chat: () => makeScriptedChatModel(["Yes."]),
  runTool: () => Effect.fail(new ToolFailure({ message: "none" }))
}))
const layer = Layer.merge(parts, VirtualPacer.layer)

const open = Effect.fnUntraced(function* (id: string) {
  const leg = yield* FakeLeg.make()
  const facts: Array<Fact> = []
  const endAsked = yield* Deferred.make<EndReason>()
  const fiber = yield* Effect.forkScoped(
    Conversation.run({
      plan: defaultPlan(id, ""),
      leg,
      remember: (fact) => void facts.push(fact),
      endAsked,
      outliving: yield* Effect.scope
    })
  )
  yield* Effect.yieldNow
  const ends = () => facts.flatMap((fact) => (fact._tag === "CallEnded" ? [fact.reason] : []))
  return { leg, endAsked, fiber, ends }
})

describe("a conversation", () => {
  it.effect("is ended from outside with the reason asked for, and leaves its neighbour alone", () =>
    Effect.gen(function* () {
      const one = yield* open("a")
      const other = yield* open("b")
      yield* Deferred.succeed(one.endAsked, "agent_hangup")
      assert.strictEqual(yield* Fiber.join(one.fiber), "agent_hangup")
      assert.deepStrictEqual([one.leg.closed(), one.leg.closes(), one.ends()], ["agent_hangup", 1, ["agent_hangup"]])
      assert.deepStrictEqual([other.leg.closed(), other.ends()], [null, []])
      other.leg.caller.leaves()
      assert.strictEqual(yield* Fiber.join(other.fiber), "user_hangup")
    }).pipe(Effect.provide(layer))
  )

  it.effect("ends at once when it was asked to end before it began", () =>
    Effect.gen(function* () {
      const leg = yield* FakeLeg.make()
      const endAsked = yield* Deferred.make<EndReason>()
      yield* Deferred.succeed(endAsked, "cancelled")
      const plan = defaultPlan("a", "")
      const outliving = yield* Effect.scope
      const run = Conversation.run({ plan, leg, remember: () => undefined, endAsked, outliving })
      assert.strictEqual(yield* run, "cancelled")
      assert.strictEqual(leg.closes(), 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("that is interrupted has ended as internal_error by the time the interruption is done", () =>
    Effect.gen(function* () {
      const { ends, fiber, leg } = yield* open("a")
      yield* TestClock.adjust(1_000)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepStrictEqual([leg.closed(), leg.closes(), ends()], ["internal_error", 1, ["internal_error"]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("without a recogniser tells the client, and answers what is typed", () =>
    Effect.gen(function* () {
      const { leg } = yield* open("a")
      yield* TestClock.adjust(3_000)
      assert.isTrue(leg.messages.some(({ message }) => message._tag === "Event" && message.event.type === "error"))
      leg.caller.sends({ type: "user.message", text: "hello" })
      const before = leg.playedMs()
      yield* TestClock.adjust(3_000)
      assert.isAbove(leg.playedMs(), before)
    }).pipe(Effect.provide(layer))
  )
})
