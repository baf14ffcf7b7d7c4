// Openings, silences, failures and ends of a call.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import { makeScriptedSynthesizer } from "@parley/speech/testing/ScriptedSynthesizer"
import { SpeechError } from "@parley/speech/ports/SpeechError"
import { rehearse } from "../../src/testing/Rehearsal.ts"
import { during, wait } from "./acting.ts"

describe("the opening", () => {
  it.effect("is silent, fixed or told by the model", () =>
    Effect.gen(function* () {
      const silent = yield* rehearse({ firstMessage: { mode: "off" } })
      const fixed = yield* rehearse({ firstMessage: { mode: "fixed", text: "Hello, this is Parley." } })
      const chat = makeScriptedChatModel(["Welcome!"])
      const told = yield* rehearse({ firstMessage: { mode: "prompt", instruction: "Greet warmly." }, chat })
      yield* wait(5_000)
      assert.deepStrictEqual(silent.transcript(), [])
      assert.deepStrictEqual(fixed.transcript(), ["assistant: Hello, this is Parley."])
      assert.deepStrictEqual(told.transcript(), ["assistant: Welcome!"])
      assert.include(chat.requests[0]?.messages.at(-1)?.content ?? "", "Greet warmly.")
    })
  )
})

describe("silence", () => {
  it.effect("is broken once, then ends the call, with a farewell where wanted", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({ rules: { reengage: true, farewell: true, hangupAfterMs: 30_000 } })
      yield* wait(29_000)
      assert.deepStrictEqual(call.transcript(), ["assistant: Are you still there?"])
      assert.isUndefined(call.ended())
      yield* wait(10_000)
      assert.strictEqual(call.ended(), "agent_hangup")
      assert.match(call.transcript().at(-1) ?? "", /Goodbye/)
    })
  )

  it.effect("does not count while the client is active", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({ rules: { hangupAfterMs: 20_000 } })
      for (let i = 0; i < 4; i++) {
        yield* wait(15_000)
        call.caller.sends({ type: "user.activity" })
      }
      assert.isUndefined(call.ended())
      yield* wait(20_100)
      assert.strictEqual(call.ended(), "agent_hangup")
    })
  )
})

describe("the model", () => {
  it.effect("failing three turns in a row ends the call after an apology", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({ chat: makeScriptedChatModel([{ fail: "Unauthorized" }]) })
      for (const text of ["one", "two", "three"]) {
        assert.isUndefined(call.ended())
        call.caller.sends({ type: "user.message", text })
        yield* wait(12_000)
      }
      assert.strictEqual(call.ended(), "llm_endpoint_failure")
      assert.match(call.transcript().at(-1) ?? "", /technical problem/)
    })
  )

  it.effect("is asked once more when it fails before its first word", () =>
    Effect.gen(function* () {
      const chat = makeScriptedChatModel([{ fail: "Unavailable" }, "Here I am."])
      const call = yield* rehearse({ chat })
      call.caller.sends({ type: "user.message", text: "hello" })
      yield* wait(5_000)
      assert.deepStrictEqual(call.transcript(), ["user: hello", "assistant: Here I am."])
    })
  )

  it.effect("that never answers is given up within its bound", () =>
    Effect.gen(function* () {
      const chat = makeScriptedChatModel([{ firstWordMs: Number.POSITIVE_INFINITY }, "Now."])
      const call = yield* rehearse({ chat })
      call.caller.sends({ type: "user.message", text: "hello" })
      yield* wait(20_000)
      assert.match(call.transcript().at(-1) ?? "", /say it again/)
      assert.strictEqual(call.state(), "listening")
    })
  )

  it.effect("hangs up with its tool after it said goodbye", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({
        hangUpTool: true,
        chat: makeScriptedChatModel([{ text: "Goodbye then.", tool: { name: "hang_up_call" } }])
      })
      call.caller.sends({ type: "user.message", text: "bye" })
      yield* wait(1_000)
      assert.isUndefined(call.ended())
      yield* wait(3_000)
      assert.strictEqual(call.ended(), "agent_hangup")
      assert.strictEqual(call.transcript().at(-1), "assistant: Goodbye then.")
      const tools = call.items().filter((item) => item.type !== "message")
      assert.deepStrictEqual(
        tools.map(({ tool_name, tool_source, type }) => [type, tool_name, tool_source]),
        [
          ["tool_call", "hang_up_call", "builtin"],
          ["tool_result", "hang_up_call", "builtin"]
        ]
      )
    })
  )
})

describe("the synthesizer", () => {
  it.effect("failing leaves the call alive and the record without the words", () =>
    Effect.gen(function* () {
      const error = new SpeechError({ reason: "InvalidOutput", provider: "scripted", message: "empty" })
      const synthesizer = makeScriptedSynthesizer({
        perRequest: (_, index) => (index === 0 ? { fail: { afterAudioMs: 0, error } } : undefined)
      })
      const call = yield* rehearse({ synthesizer, chat: makeScriptedChatModel(["Lost.", "Found."]) })
      call.caller.sends({ type: "user.message", text: "one" })
      yield* wait(3_000)
      call.caller.sends({ type: "user.message", text: "two" })
      yield* wait(3_000)
      assert.deepStrictEqual(call.transcript(), ["user: one", "user: two", "assistant: Found."])
      const errors = call.leg.messages.filter(
        ({ message }) => message._tag === "Event" && message.event.type === "error"
      )
      assert.strictEqual(errors.length, 1)
    })
  )
})

describe("the end", () => {
  it.effect.each([
    ["left", "user_hangup"],
    ["lost", "heartbeat_timeout"],
    ["failed", "internal_error"]
  ] as const)("when the leg is %s is %s", ([how, reason]) =>
    Effect.gen(function* () {
      const call = yield* rehearse({})
      call.caller.leaves(how)
      yield* wait(10)
      assert.strictEqual(call.ended(), reason)
    })
  )

  it.effect("comes by the client's word, from outside, and at the longest duration", () =>
    Effect.gen(function* () {
      const byClient = yield* rehearse({})
      byClient.caller.sends({ type: "user.hangup" })
      const fromOutside = yield* rehearse({})
      fromOutside.endAsked("agent_hangup")
      yield* wait(10)
      assert.strictEqual(byClient.ended(), "user_hangup")
      assert.strictEqual(fromOutside.ended(), "agent_hangup")
    })
  )

  it.effect("of a thirty-minute call with sixty turns comes at its time", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({ hears: Array.from({ length: 60 }, (_, i) => `question ${i}`) })
      const minute = Effect.andThen(call.caller.speaks(800), call.caller.pauses(1_000))
      yield* Effect.forkScoped(Effect.replicateEffect(Effect.andThen(minute, Effect.sleep(28_000)), 60))
      yield* during(Effect.void, 1_800_100)
      assert.strictEqual(call.ended(), "conversation_timeout")
      assert.isAtLeast(call.latencies().length, 58)
    })
  )

  it.effect("of a call with a defect in it is its own", () =>
    Effect.gen(function* () {
      const chat = makeScriptedChatModel(() => {
        throw new Error("a bug")
      })
      const broken = yield* rehearse({ chat })
      const neighbour = yield* rehearse({})
      broken.caller.sends({ type: "user.message", text: "hello" })
      yield* wait(1_000)
      assert.strictEqual(broken.ended(), "internal_error")
      assert.isUndefined(neighbour.ended())
    })
  )
})
