import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { ChatMessage } from "@parley/llm/ChatModel"
import { defaultPlan } from "../../src/CallPlan.ts"
import * as Recall from "../../src/reply/Recall.ts"

const plan = { ...defaultPlan("ses_1", ""), knowledge: [{ id: "knowledge_1", revision: 1, title: "Hours" }] }

/** In steps, so that fibers forked on the way fall asleep in time. */
const pass = (ms: number) => Effect.repeat(TestClock.adjust(10), { times: ms / 10 - 1 })

describe("Recall", () => {
  it.effect("searches once for the same words, also when the speculative reply that asked is gone", () =>
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const asked: Array<string> = []
      const notes: Array<string> = []
      const recall = Recall.make({
        plan,
        retrieve: (_plan, text) => {
          asked.push(text)
          return Effect.as(Effect.sleep(100), [{ title: "Hours", text }])
        },
        scope,
        now: () => 0,
        journal: { note: (name) => void notes.push(name), fault: (name) => assert.fail(name) },
        onDefect: () => assert.fail("a defect")
      })
      const early = yield* Effect.forkChild(recall("open?"))
      yield* pass(40)
      assert.deepStrictEqual([asked, notes], [["open?"], []])
      yield* Fiber.interrupt(early)
      const again = yield* Effect.forkChild(recall("open?"))
      yield* pass(200)
      assert.match((yield* Fiber.join(again))[0]?.content ?? "", /<passages>\n\[1\] Hours\nopen\?\n<\/passages>$/)
      assert.deepStrictEqual([asked, notes], [["open?"], ["knowledge_retrieved"]])
      const other = yield* Effect.forkChild(recall("open on sunday?"))
      yield* pass(200)
      yield* Fiber.join(other)
      assert.deepStrictEqual(asked, ["open?", "open on sunday?"])
    }).pipe(Effect.scoped)
  )
})

describe("placed", () => {
  it("puts what was found before the caller's last words", () => {
    const [found, system, one, answer, two]: ReadonlyArray<ChatMessage> = [
      { role: "system", content: "found" },
      { role: "system", content: "prompt" },
      { role: "user", content: "one" },
      { role: "assistant", content: "answer" },
      { role: "user", content: "two" }
    ]
    assert.isDefined(found && system && one && answer && two)
    if (!found || !system || !one || !answer || !two) return
    const history = [system, one, answer, two]
    assert.deepStrictEqual(Recall.placed(history, [found]), [system, one, answer, found, two])
    assert.deepStrictEqual(Recall.placed(history, []), history)
    assert.deepStrictEqual(Recall.placed([system], [found]), [system, found])
  })
})
