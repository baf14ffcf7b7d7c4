// The registry of calls: exact slots, ends by name, draining.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import { makeScriptedSynthesizer } from "@parley/speech/testing/ScriptedSynthesizer"
import { makeScriptedVoiceActivity } from "@parley/speech/testing/ScriptedVoiceActivity"
import { defaultPlan } from "../src/CallPlan.ts"
import { Conversations } from "../src/Conversations.ts"
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
const layer = Layer.provide(Conversations.layer({ capacity: 2 }), Layer.merge(parts, VirtualPacer.layer))

const open = Effect.fnUntraced(function* (id: string) {
  const leg = yield* FakeLeg.make()
  const over = yield* (yield* Conversations).start({ plan: defaultPlan(id, ""), leg, remember: () => {} })
  return { leg, over }
})

describe("the registry", () => {
  it.effect("gives out its slots exactly, and takes them back", () =>
    Effect.gen(function* () {
      const conversations = yield* Conversations
      yield* open("a")
      const { leg } = yield* open("b")
      assert.strictEqual((yield* Effect.flip(open("c"))).reason, "full")
      assert.strictEqual((yield* Effect.flip(open("a"))).reason, "taken")
      leg.caller.leaves()
      yield* TestClock.adjust(10)
      assert.strictEqual(conversations.live(), 1)
      yield* open("c")
    }).pipe(Effect.provide(layer))
  )

  it.effect("ends a call by its name", () =>
    Effect.gen(function* () {
      const conversations = yield* Conversations
      const { leg, over } = yield* open("a")
      assert.isFalse(yield* conversations.end("b", "agent_hangup"))
      assert.isTrue(yield* conversations.end("a", "agent_hangup"))
      assert.strictEqual(leg.closed(), "agent_hangup")
      assert.strictEqual(yield* over, "agent_hangup")
    }).pipe(Effect.provide(layer))
  )

  it.effect("drains: no new calls, the live ones said goodbye to", () =>
    Effect.gen(function* () {
      const conversations = yield* Conversations
      const { leg } = yield* open("a")
      yield* conversations.drain("agent_hangup", 1_000)
      assert.strictEqual(leg.closed(), "agent_hangup")
      assert.strictEqual((yield* Effect.flip(open("b"))).reason, "draining")
    }).pipe(Effect.provide(layer))
  )
})
