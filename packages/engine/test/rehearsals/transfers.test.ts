// Telephone calls that are handed over, and those that cannot be.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import type { PlannedTransfer } from "../../src/CallPlan.ts"
import { type Dial, DialFailure, type ReferRefusal } from "../../src/ports/CallParts.ts"
import * as FakeLeg from "../../src/testing/FakeLeg.ts"
import { rehearse, type RehearsalScript } from "../../src/testing/Rehearsal.ts"
import { during, wait } from "./acting.ts"

const destination: PlannedTransfer = {
  label: "Sales",
  description: "",
  mode: "cold",
  target: "+14155550199",
  warmConnect: "confirm",
  briefing: "It is about an order.",
  onFailure: { action: "return_to_agent", message: "" }
}

const call = Effect.fnUntraced(function* (
  to: Partial<PlannedTransfer>,
  script: RehearsalScript & { readonly briefing?: string } = {}
) {
  const chat = makeScriptedChatModel([
    { text: "I will connect you.", tool: { name: "transfer_call", args: {} } },
    script.briefing ?? "Anna wants to order."
  ])
  const rehearsal = yield* rehearse({
    chat,
    telephone: "transferred",
    phone: { ...ours, transfers: [{ ...destination, ...to }], keypad: true },
    ...script
  })
  rehearsal.caller.sends({ type: "user.message", text: "sales please" })
  return { ...rehearsal, chat }
})

/** A colleague who answers after a moment. */
const colleague = Effect.fnUntraced(function* (ringMs = 3_000) {
  const leg = yield* FakeLeg.make(8_000)
  let hungUp = false
  const dialled: Array<string> = []
  const dial: Dial = (_plan, target) =>
    Effect.gen(function* () {
      dialled.push(target)
      yield* Effect.sleep(ringMs)
      yield* Effect.addFinalizer(() => Effect.sync(() => (hungUp = true)))
      return leg
    })
  return { leg, dial, dialled, hungUp: () => hungUp }
})

const ours = { number: "+14155550100", referHeaders: {} }

const nobody: Dial = () => Effect.delay(Effect.fail(new DialFailure({ reason: "no_answer" })), 30_000)

const results = (items: ReadonlyArray<{ readonly type: string }>) =>
  items.flatMap((item) => (item.type === "tool_result" ? [item as unknown as { output: string; status: string }] : []))

describe("a cold transfer", () => {
  it.effect("goes out when the announcement was heard, and ends the call as escalated", () =>
    Effect.gen(function* () {
      const held = yield* call({})
      yield* wait(6_000)
      assert.deepStrictEqual(held.leg.referred, ["tel:+14155550199"])
      assert.include(held.transcript(), "assistant: I will connect you.")
      assert.strictEqual(held.ended(), "escalated")
    })
  )

  it.effect("is asked for first, and goes no way where it may not", () =>
    Effect.gen(function* () {
      const other = yield* colleague()
      const asked: Array<string> = []
      const referRefusal: ReferRefusal = (_plan, target) =>
        Effect.sync(() => {
          asked.push(target)
          return "not_allowed"
        })
      const held = yield* call({}, { telephone: "refused", dial: other.dial, referRefusal })
      yield* wait(20_000)
      assert.deepStrictEqual(asked, ["+14155550199"])
      assert.deepStrictEqual([held.leg.referred, other.dialled], [[], []])
      const [result] = results(held.items())
      assert.include(result?.output ?? "", "may not be called from here")
      held.endAsked("user_hangup")
    })
  )

  it.effect("that the carrier declined is not placed by ourselves where that may not be", () =>
    Effect.gen(function* () {
      const reasons: Array<string> = []
      const dial: Dial = (_plan, _target, _ringSeconds, reason) => {
        reasons.push(reason)
        return Effect.fail(new DialFailure({ reason: "not_allowed" }))
      }
      const held = yield* call({}, { telephone: "refused", dial })
      yield* wait(20_000)
      assert.deepStrictEqual(reasons, ["refer_declined"])
      assert.include(results(held.items())[0]?.output ?? "", "may not be called from here")
      held.endAsked("user_hangup")
    })
  )

  it.effect("is placed by ourselves where the carrier refuses, and both hear each other", () =>
    Effect.gen(function* () {
      const other = yield* colleague()
      const held = yield* call({ target: "sip:sales@example.com" }, { telephone: "refused", dial: other.dial })
      yield* wait(6_000)
      assert.deepStrictEqual(other.dialled, ["sip:sales@example.com"])
      const before = held.leg.playedMs()
      yield* during(other.leg.caller.speaks(2_000), 2_100)
      assert.isAbove(held.leg.playedMs() - before, 1_500)
      const theirs = other.leg.playedMs()
      yield* during(held.caller.speaks(2_000), 2_100)
      assert.isAbove(other.leg.playedMs() - theirs, 1_500)
      held.caller.leaves()
      yield* wait(100)
      // What they said to each other is nobody else's.
      assert.deepStrictEqual(held.transcript(), ["user: sales please", "assistant: I will connect you."])
      assert.strictEqual(held.ended(), "escalated")
      assert.isTrue(other.hungUp())
    })
  )

  it.effect("that is refused leaves the caller with the agent, who knows why", () =>
    Effect.gen(function* () {
      const held = yield* call({}, { telephone: "refused" })
      yield* wait(8_000)
      assert.isUndefined(held.ended())
      assert.include(results(held.items())[0]?.output ?? "", "the carrier refused")
      assert.strictEqual(held.state(), "listening")
    })
  )
})

describe("a warm transfer", () => {
  it.effect("plays music, briefs the colleague in private, and joins both on a yes", () =>
    Effect.gen(function* () {
      const other = yield* colleague()
      const held = yield* call({ mode: "warm" }, { dial: other.dial, hears: ["yes please"] })
      yield* wait(5_000)
      // On hold: music, and the agent hears nothing of what the caller says.
      yield* during(held.caller.speaks(1_000), 1_000)
      assert.isAbove(held.leg.playedMs(), 2_000)
      yield* wait(12_000)
      assert.isAbove(other.leg.playedMs(), 500)
      assert.include(held.chat.requests.at(-1)?.messages.at(-1)?.content ?? "", "It is about an order.")
      yield* during(other.leg.caller.speaks(800), 800)
      yield* during(other.leg.caller.pauses(1_500), 4_000)
      const before = held.leg.playedMs()
      yield* during(other.leg.caller.speaks(2_000), 2_100)
      assert.isAbove(held.leg.playedMs() - before, 1_500)
      other.leg.caller.leaves()
      yield* wait(200)
      assert.strictEqual(held.ended(), "escalated")
    })
  )

  it.effect("comes back to the agent when the colleague declines, is a machine, or says nothing", () =>
    Effect.gen(function* () {
      for (const [hears, reason] of [
        ["no, not now", "declined"],
        ["please leave a message after the tone", "machine"],
        ["", "said nothing"]
      ] as const) {
        const other = yield* colleague(500)
        const held = yield* call({ mode: "warm" }, { dial: other.dial, hears: [hears] })
        yield* wait(18_000)
        yield* during(other.leg.caller.speaks(800), 800)
        yield* during(other.leg.caller.pauses(1_500), hears === "" ? 70_000 : 4_000)
        assert.include(results(held.items())[0]?.output ?? "", reason)
        assert.isUndefined(held.ended(), reason)
        assert.isTrue(other.hungUp())
        held.caller.leaves()
      }
    })
  )

  it.effect("says the destination's own words when nobody answers, and hangs up where that is wanted", () =>
    Effect.gen(function* () {
      const message = "Nobody is there right now."
      const back = yield* call({ mode: "warm", onFailure: { action: "return_to_agent", message } }, { dial: nobody })
      const over = yield* call({ mode: "warm", onFailure: { action: "end_call", message } }, { dial: nobody })
      yield* wait(40_000)
      assert.include(back.transcript(), `assistant: ${message}`)
      assert.include(results(back.items())[0]?.output ?? "", "nobody answered")
      assert.isUndefined(back.ended())
      assert.include(over.transcript(), `assistant: ${message}`)
      assert.strictEqual(over.ended(), "agent_hangup")
    })
  )

  it.effect("joins on a key, on any answer, or at once, as the destination says", () =>
    Effect.gen(function* () {
      for (const [warmConnect, act] of [
        ["confirm", (leg: FakeLeg.FakeLeg) => leg.caller.presses("1")],
        ["direct", () => undefined]
      ] as const) {
        const other = yield* colleague(500)
        const held = yield* call({ mode: "warm", warmConnect }, { dial: other.dial })
        yield* wait(20_000)
        act(other.leg)
        yield* wait(4_000)
        const before = held.leg.playedMs()
        yield* during(other.leg.caller.speaks(2_000), 2_100)
        assert.isAbove(held.leg.playedMs() - before, 1_500, warmConnect)
        held.caller.leaves()
        yield* wait(100)
        assert.strictEqual(held.ended(), "escalated")
      }
    })
  )

  it.effect("tells the colleague when the caller hangs up on hold", () =>
    Effect.gen(function* () {
      const other = yield* colleague(500)
      const held = yield* call({ mode: "warm" }, { dial: other.dial })
      yield* wait(18_000)
      const before = other.leg.playedMs()
      held.caller.leaves()
      yield* wait(8_000)
      assert.isAbove(other.leg.playedMs(), before)
      assert.isTrue(other.hungUp())
      assert.strictEqual(held.ended(), "user_hangup")
    })
  )
})

describe("the keypad", () => {
  it.effect("is pressed by the agent, and refuses what is no key", () =>
    Effect.gen(function* () {
      const chat = makeScriptedChatModel([
        { tool: { name: "send_digits", args: { digits: "12#" } } },
        { tool: { name: "send_digits", args: { digits: "12; drop" } } },
        "Done."
      ])
      const held = yield* rehearse({ chat, telephone: "refused", phone: { ...ours, transfers: [], keypad: true } })
      held.caller.sends({ type: "user.message", text: "press" })
      yield* wait(6_000)
      assert.deepStrictEqual(held.leg.pressed, ["12#"])
      assert.deepStrictEqual(
        results(held.items()).map(({ status }) => status),
        ["completed", "failed"]
      )
    })
  )
})
