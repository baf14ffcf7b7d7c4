// Documents that are searched at every turn: what is found reaches the model once, and nothing waits long for it.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ChatMessage } from "@parley/llm/ChatModel"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import type { Retrieve } from "../../src/ports/CallParts.ts"
import { type Rehearsal, type RehearsalScript, rehearse } from "../../src/testing/Rehearsal.ts"
import { during, wait } from "./acting.ts"

const knowledge = [{ id: "knowledge_1", revision: 2, title: "Hours" }]
const passages = [{ title: "Hours: Sunday", text: "Closed on Sundays." }]

const journaled = (call: Rehearsal, name: string) =>
  call.facts.flatMap((fact) => (fact._tag === "Journaled" && fact.entry.name === name ? [fact.entry] : []))

const lines = (messages: ReadonlyArray<ChatMessage> | undefined) =>
  messages?.map(
    (message) =>
      `${message.role}: ${message.content
        .replace(/^\[Passages .*\]\n/, "")
        .split("\n\n")
        .at(-1)}`
  )

const say = (caller: Rehearsal["caller"]) => during(Effect.andThen(caller.speaks(1000), caller.pauses(1500)), 8_000)

/** A call whose searches are kept. */
const asking = Effect.fnUntraced(function* (find: Retrieve, script: RehearsalScript = {}) {
  const asked: Array<string> = []
  const chat = makeScriptedChatModel(["All right."])
  const retrieve: Retrieve = (plan, text) => {
    asked.push(text)
    return find(plan, text)
  }
  const call = yield* rehearse({ hears: ["are you open on sunday"], chat, knowledge, retrieve, ...script })
  return { call, asked, chat }
})

describe("knowledge", () => {
  it.effect("reaches the model before the caller's words, in that turn only, and shows in the journal", () =>
    Effect.gen(function* () {
      const { asked, call, chat } = yield* asking(
        (_plan, text) => Effect.as(Effect.sleep(40), text.includes("sunday") ? passages : []),
        { hears: ["are you open on sunday", "thank you"] }
      )
      yield* say(call.caller)
      yield* say(call.caller)
      // One search for the speculative reply and the turn it answers.
      assert.deepStrictEqual(asked, ["are you open on sunday", "thank you"])
      assert.deepStrictEqual(lines(chat.requests[0]?.messages), [
        "system: You are helpful.",
        "user: <passages>\n[1] Hours: Sunday\nClosed on Sundays.\n</passages>",
        "user: are you open on sunday"
      ])
      assert.deepStrictEqual(lines(chat.requests.at(-1)?.messages), [
        "system: You are helpful.",
        "user: are you open on sunday",
        "assistant: All right.",
        "user: thank you"
      ])
      assert.deepStrictEqual(
        journaled(call, "knowledge_retrieved").map(({ data, kind }) => ({ kind, data })),
        [
          {
            kind: "note",
            data: { took_ms: 40, passages: [{ title: "Hours: Sunday", length: 18, text: "Closed on Sundays." }] }
          },
          { kind: "note", data: { took_ms: 40, passages: [] } }
        ]
      )
      assert.deepStrictEqual(call.transcript().slice(0, 2), ["user: are you open on sunday", "assistant: All right."])
    })
  )

  for (const [name, stuck] of [
    ["slow", Effect.never],
    ["slow and deaf", Effect.uninterruptible(Effect.as(Effect.sleep(4_000), passages))]
  ] as const) {
    it.effect(`holds the reply up for its box and no longer when the search is ${name}`, () =>
      Effect.gen(function* () {
        const { call, chat } = yield* asking(() => stuck, { rules: { speculativeResponse: false } })
        yield* say(call.caller)
        assert.deepStrictEqual(call.transcript(), ["user: are you open on sunday", "assistant: All right."])
        assert.deepStrictEqual(lines(chat.requests[0]?.messages), [
          "system: You are helpful.",
          "user: are you open on sunday"
        ])
        assert.deepStrictEqual(
          journaled(call, "knowledge_overdue").map(({ data, kind }) => ({ kind, data })),
          [{ kind: "fault", data: { box_ms: 300 } }]
        )
        const plain = yield* rehearse({ hears: ["are you open on sunday"], rules: { speculativeResponse: false } })
        yield* say(plain.caller)
        const [late, usual] = [call.latencies()[0]?.total_ms, plain.latencies()[0]?.total_ms]
        assert.approximately(late ?? 0, (usual ?? 0) + 300, 25)
      })
    )
  }

  it.effect("goes on without when the search fails or breaks", () =>
    Effect.gen(function* () {
      for (const broken of [Effect.fail("down"), Effect.die(new Error("down"))]) {
        const { call, chat } = yield* asking(() => broken)
        yield* say(call.caller)
        assert.deepStrictEqual(call.transcript(), ["user: are you open on sunday", "assistant: All right."])
        assert.strictEqual(chat.requests[0]?.messages.length, 2)
        assert.strictEqual(journaled(call, "knowledge_failed").length, 1)
        assert.isUndefined(call.ended())
      }
    })
  )

  it.effect("is left alone in a plan without any, and by lines of our own", () =>
    Effect.gen(function* () {
      const { asked, call } = yield* asking(() => Effect.succeed(passages), { knowledge: [] })
      yield* say(call.caller)
      assert.deepStrictEqual(asked, [])
      const opening = yield* asking(() => Effect.succeed(passages), { firstMessage: { mode: "fixed", text: "Hello." } })
      yield* wait(3_000)
      assert.deepStrictEqual(opening.asked, [])
    })
  )
})
