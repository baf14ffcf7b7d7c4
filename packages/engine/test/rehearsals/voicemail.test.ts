// A call that was placed, answered by a machine or by a person.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import type { VoicemailRules } from "../../src/CallPlan.ts"
import { rehearse } from "../../src/testing/Rehearsal.ts"
import { during, wait } from "./acting.ts"

const greeting = "Hi, this is Anna, please leave a message after the beep."
const placed = (voicemail: VoicemailRules, hears: ReadonlyArray<string>) => {
  const chat = makeScriptedChatModel(["Hello, this is the clinic.", "Anna, please call the clinic back.", "Fine."])
  const firstMessage = { mode: "prompt", instruction: "Greet." } as const
  return Effect.map(rehearse({ chat, firstMessage, hears, rules: { voicemail } }), (call) => ({ call, chat }))
}
const message = "Please call the clinic back."

describe("an answering machine", () => {
  it.effect("is greeted at once, and gets its message after the beep", () =>
    Effect.gen(function* () {
      const { call } = yield* placed({ action: "leave_message", message }, [greeting])
      yield* wait(900)
      assert.isAbove(call.leg.playedMs(), 0)
      yield* during(call.caller.speaks(4_000), 4_000)
      yield* during(call.caller.pauses(700), 700)
      const before = call.leg.playedMs()
      assert.notInclude(call.transcript().join(), message)
      yield* during(call.caller.beeps(500), 500)
      yield* during(call.caller.pauses(6_000), 6_000)
      assert.isAbove(call.leg.playedMs(), before)
      assert.strictEqual(call.transcript().at(-1), `assistant: ${message}`)
      assert.strictEqual(call.ended(), "agent_hangup")
    })
  )

  it.effect("gets it without a beep, too, when its greeting is over", () =>
    Effect.gen(function* () {
      const { call } = yield* placed({ action: "leave_message", message }, [greeting])
      yield* during(call.caller.speaks(3_000), 3_000)
      yield* during(call.caller.pauses(10_000), 10_000)
      assert.strictEqual(call.transcript().at(-1), `assistant: ${message}`)
      assert.strictEqual(call.ended(), "agent_hangup")
    })
  )

  it.effect("gets the model's own words where that is wanted, and cannot interrupt them", () =>
    Effect.gen(function* () {
      const { call, chat } = yield* placed({ action: "leave_prompt_message", message: "Ask for a call back." }, [
        greeting,
        "",
        "thank you"
      ])
      yield* during(call.caller.speaks(3_000), 3_000)
      yield* during(call.caller.pauses(600), 600)
      yield* during(call.caller.beeps(400), 400)
      yield* during(call.caller.pauses(300), 300)
      yield* during(call.caller.speaks(900), 900)
      yield* during(call.caller.pauses(8_000), 8_000)
      assert.include(chat.requests.at(-1)?.messages.at(-1)?.content ?? "", "Ask for a call back.")
      assert.strictEqual(call.transcript().at(-1), "assistant: Anna, please call the clinic back.")
      assert.strictEqual(call.ended(), "agent_hangup")
    })
  )

  it.effect("is hung up on where that is wanted", () =>
    Effect.gen(function* () {
      const { call } = yield* placed({ action: "hangup", message: "" }, [greeting])
      yield* during(call.caller.speaks(3_000), 3_000)
      yield* during(call.caller.pauses(1_500), 1_500)
      assert.strictEqual(call.ended(), "agent_hangup")
    })
  )

  it.effect("is known by its beep after long speech, when nobody understood its words", () =>
    Effect.gen(function* () {
      const { call } = yield* placed({ action: "leave_message", message }, ["mumble mumble"])
      yield* during(call.caller.speaks(4_000), 4_000)
      yield* during(call.caller.pauses(200), 200)
      yield* during(call.caller.beeps(600), 600)
      yield* during(call.caller.pauses(6_000), 6_000)
      assert.strictEqual(call.transcript().at(-1), `assistant: ${message}`)
    })
  )
})

describe("a person", () => {
  it.effect("is never cut off: not by talking long, not by a beep nearby, not by the word message", () =>
    Effect.gen(function* () {
      const { call } = yield* placed({ action: "hangup", message: "" }, [
        "hello",
        "I got your message yesterday and wanted to ask about the appointment on Friday",
        "yes"
      ])
      yield* during(call.caller.speaks(600), 600)
      yield* during(call.caller.pauses(2_000), 2_000)
      // A door bell.
      yield* during(call.caller.beeps(400), 400)
      yield* during(call.caller.pauses(3_000), 3_000)
      yield* during(call.caller.speaks(9_000), 9_000)
      yield* during(call.caller.pauses(4_000), 4_000)
      assert.isUndefined(call.ended())
      assert.include(call.transcript().join(), "user: hello")
    })
  )

  it.effect("who says such words late in a conversation is still a person", () =>
    Effect.gen(function* () {
      const { call } = yield* placed({ action: "hangup", message: "" }, ["hello", greeting])
      yield* during(call.caller.speaks(600), 600)
      yield* during(call.caller.pauses(46_000), 46_000)
      yield* during(call.caller.speaks(3_000), 3_000)
      yield* during(call.caller.pauses(3_000), 3_000)
      assert.isUndefined(call.ended())
    })
  )
})
