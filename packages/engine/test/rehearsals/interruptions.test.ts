// Barge-in: before the first frame, during playout, during a tool call; and everything that only looks
// like one.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import type { PlannedTool } from "../../src/CallPlan.ts"
import { rehearse, type RehearsalScript } from "../../src/testing/Rehearsal.ts"
import { during, wait } from "./acting.ts"

const long = "We are open from nine in the morning until six in the evening on every day of the week except Sunday."

const answering = Effect.fnUntraced(function* (script: RehearsalScript) {
  const call = yield* rehearse({ chat: makeScriptedChatModel([long, "Sure."]), ...script })
  yield* during(Effect.andThen(call.caller.speaks(800), call.caller.pauses(400)), 3_000)
  assert.strictEqual(call.state(), "speaking")
  return call
})

describe("an interruption", () => {
  it.effect("during playout stops the agent, and the record is cut to what was heard", () =>
    Effect.gen(function* () {
      const chat = makeScriptedChatModel([long, "Sure."])
      const call = yield* answering({ hears: ["when are you open", "what about sunday"], chat })
      const onset = 3_000
      yield* during(Effect.andThen(call.caller.speaks(1_000), call.caller.pauses(1_000)), 400)
      const silentSince = call.leg.lastPlayedAt()
      assert.isAtMost(silentSince - onset, 250)
      yield* wait(6_000)
      const [, cut, user, answer] = call.transcript()
      assert.strictEqual(user, "user: what about sunday")
      assert.strictEqual(answer, "assistant: Sure.")
      const heard = (cut ?? "").replace("assistant: ", "")
      assert.isTrue(long.startsWith(heard))
      assert.isAbove(heard.length, 5)
      assert.isBelow(heard.length, long.length - 20)
      // The model is told no more than the caller heard.
      const told = chat.requests.at(-1)?.messages.find((message) => message.role === "assistant")
      assert.strictEqual(told?.content, heard)
    })
  )

  it.effect("before the first frame takes the answer back and reopens the turn", () =>
    Effect.gen(function* () {
      const chat = makeScriptedChatModel([{ text: "First.", firstWordMs: 3_000 }, "Second."])
      const call = yield* rehearse({
        hears: ["book me please", "on monday"],
        chat,
        rules: { speculativeResponse: false }
      })
      const { caller } = call
      const speech = [caller.speaks(500), caller.pauses(1_200), caller.speaks(700), caller.pauses(1_500)]
      yield* during(Effect.all(speech, { discard: true }), 12_000)
      assert.deepStrictEqual(call.transcript(), ["user: book me please on monday", "assistant: Second."])
      assert.strictEqual(chat.cancelled(), 1)
    })
  )

  it.effect("during a tool call does not tear the tool, and its result is known afterwards", () =>
    Effect.gen(function* () {
      const tool: PlannedTool = {
        spec: { name: "book", description: "Books.", parameters: { type: "object" } },
        source: "webhook",
        mode: "blocking",
        timeoutMs: 30_000,
        errorHandling: "passthrough"
      }
      let ran = 0
      const chat = makeScriptedChatModel((request) =>
        request.messages.some((message) => message.role === "tool")
          ? "Booked."
          : { text: "One moment.", tool: { name: "book", args: { day: "monday" } } }
      )
      const call = yield* rehearse({
        hears: ["book me in", "and hurry"],
        chat,
        tools: [tool],
        runTool: () => Effect.sleep(6_000).pipe(Effect.map(() => `done ${++ran}`))
      })
      yield* during(Effect.andThen(call.caller.speaks(500), call.caller.pauses(1_000)), 3_000)
      yield* during(Effect.andThen(call.caller.speaks(700), call.caller.pauses(1_000)), 8_000)
      assert.strictEqual(ran, 1)
      const result = call.items().find((item) => item.type === "tool_result")
      assert.strictEqual(result?.type === "tool_result" ? result.output : null, "done 1")
      const told = chat.requests.at(-1)?.messages.find((message) => message.role === "tool")
      assert.isDefined(told)
      assert.strictEqual(call.state(), "listening")
    })
  )

  it.effect("that is a cough holds the agent for a moment, then it goes on where it stopped", () =>
    Effect.gen(function* () {
      const call = yield* answering({ hears: ["when are you open", ""] })
      yield* during(Effect.andThen(call.caller.speaks(300), call.caller.pauses(1_000)), 12_000)
      assert.include(call.moves(), "PauseReply")
      assert.include(call.moves(), "ResumeReply")
      assert.notInclude(call.moves(), "StopReply")
      assert.deepStrictEqual(call.transcript(), ["user: when are you open", `assistant: ${long}`])
    })
  )

  it.effect("of an ignored phrase is no interruption", () =>
    Effect.gen(function* () {
      const call = yield* answering({
        hears: ["when are you open", "uh huh"],
        rules: { interruptionIgnorePhrases: ["uh huh", "okay"] }
      })
      yield* during(Effect.andThen(call.caller.speaks(600), call.caller.pauses(1_000)), 12_000)
      assert.deepStrictEqual(call.transcript(), ["user: when are you open", `assistant: ${long}`])
    })
  )

  it.effect("that begins with an ignored phrase and goes on is one", () =>
    Effect.gen(function* () {
      const call = yield* answering({
        hears: ["when are you open", "okay stop please"],
        rules: { interruptionIgnorePhrases: ["okay"] }
      })
      yield* during(Effect.andThen(call.caller.speaks(1_000), call.caller.pauses(1_000)), 8_000)
      assert.include(call.transcript(), "user: okay stop please")
    })
  )

  it.effect("is refused where the agent is not interruptible, and answered afterwards", () =>
    Effect.gen(function* () {
      const call = yield* answering({
        hears: ["when are you open", "what about sunday"],
        rules: { interruptible: false }
      })
      yield* during(Effect.andThen(call.caller.speaks(1_000), call.caller.pauses(1_000)), 12_000)
      assert.deepStrictEqual(call.transcript(), [
        "user: when are you open",
        `assistant: ${long}`,
        "user: what about sunday",
        "assistant: Sure."
      ])
    })
  )

  it.effect("by the client is immediate", () =>
    Effect.gen(function* () {
      const call = yield* answering({ hears: ["when are you open"], rules: { interruptible: false } })
      const before = call.leg.playedMs()
      call.caller.sends({ type: "user.interrupt" })
      yield* wait(1_000)
      assert.isAtMost(call.leg.playedMs() - before, 20)
      assert.strictEqual(call.state(), "listening")
    })
  )

  it.effect.each([
    ["low", 500, 640],
    ["balanced", 160, 250],
    ["high", 96, 180]
  ] as const)("at %s sensitivity takes at least %d and at most %d ms of voice", ([sensitivity, least, most]) =>
    Effect.gen(function* () {
      const call = yield* answering({
        hears: ["when are you open", "one two three four five"],
        rules: { interruptionSensitivity: sensitivity }
      })
      yield* during(call.caller.speaks(1_000), 1_000)
      const took = call.leg.lastPlayedAt() - 3_000
      assert.isAtLeast(took, least - 40)
      assert.isAtMost(took, most)
    })
  )
})
