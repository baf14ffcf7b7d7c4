// A conversation in writing: the prompt, memory, documents and tools of a call, every tool waited for.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import type { SessionItem } from "@parley/contract/SessionItem"
import { type CallPlan, defaultPlan, type PlannedTool } from "../src/CallPlan.ts"
import { converse, type TextCallOptions } from "../src/TextCall.ts"

const plan: CallPlan = {
  ...defaultPlan("run_1", "You are helpful."),
  prompt: { system: "You are helpful.", firstMessage: { mode: "fixed", text: "Hello." } }
}

const tool = (part: Partial<PlannedTool>): PlannedTool => ({
  spec: { name: "look_up", description: "", parameters: {} },
  source: "webhook",
  mode: "background",
  timeoutMs: 1_000,
  errorHandling: "hide",
  ...part
})

const talk = Effect.fnUntraced(function* (options: Omit<TextCallOptions, "remember">) {
  const items: Array<SessionItem> = []
  const end = yield* converse({
    ...options,
    remember: (fact) => void (fact._tag === "ItemRecorded" && items.push(fact.item))
  })
  const lines = items.map((item) =>
    item.type === "message" ? `${item.role}: ${item.content}` : `${item.type} ${item.tool_name}`
  )
  return { ...end, items, lines }
})

describe("a conversation in writing", () => {
  it.live("goes turn by turn, and waits for background tools and tools of the app", () =>
    Effect.gen(function* () {
      const chat = makeScriptedChatModel(
        ({ messages }) => {
          const last = messages.at(-1)
          if (last?.role === "tool") return `I found ${last.content}`
          return last?.content === "look" ? { tool: { name: "look_up" } } : `You said ${last?.content}`
        },
        { firstWordMs: 0 }
      )
      for (const source of ["webhook", "client"] as const) {
        const { hungUp, lines } = yield* talk({
          plan: { ...plan, tools: [tool({ source })] },
          chat,
          runTool: () => Effect.succeed("seven"),
          turns: ["look", "thanks"]
        })
        assert.deepStrictEqual(lines, [
          "assistant: Hello.",
          "user: look",
          "tool_call look_up",
          "tool_result look_up",
          "assistant: I found seven",
          "user: thanks",
          "assistant: You said thanks"
        ])
        assert.isFalse(hungUp)
      }
      const told = chat.requests.at(-1)?.messages.map(({ content, role }) => `${role}: ${content}`)
      assert.deepStrictEqual(told, [
        "system: You are helpful.",
        "assistant: Hello.",
        "user: look",
        "assistant: ",
        "tool: seven",
        "assistant: I found seven",
        "user: thanks"
      ])
    })
  )

  it.live("ends with the answer that hangs up", () =>
    Effect.gen(function* () {
      const chat = makeScriptedChatModel([{ text: "Goodbye.", tool: { name: "hang_up_call" } }], { firstWordMs: 0 })
      const { hungUp, lines } = yield* talk({
        plan: { ...plan, hangUpTool: true },
        chat,
        runTool: () => Effect.die("no tool"),
        turns: ["bye", "still there?"]
      })
      assert.isTrue(hungUp)
      assert.deepStrictEqual(lines, [
        "assistant: Hello.",
        "user: bye",
        "tool_call hang_up_call",
        "tool_result hang_up_call",
        "assistant: Goodbye."
      ])
    })
  )

  it.live("opens as its model says, looks into documents, and fails with its model", () =>
    Effect.gen(function* () {
      const instructed = { system: "P", firstMessage: { mode: "prompt", instruction: "Greet." } } as const
      const knowledge = [{ id: "k", revision: 1, title: "Hours" }]
      const chat = makeScriptedChatModel(["Welcome.", "Nine."], { firstWordMs: 0 })
      const { lines } = yield* talk({
        plan: { ...plan, prompt: instructed, knowledge },
        chat,
        runTool: () => Effect.die("no tool"),
        retrieve: () => Effect.succeed([{ title: "Hours", text: "Nine to five." }]),
        turns: ["when?"]
      })
      assert.deepStrictEqual(lines, ["assistant: Welcome.", "user: when?", "assistant: Nine."])
      assert.include(chat.requests.at(-1)?.messages.at(-2)?.content, "Nine to five.")
      const failing = makeScriptedChatModel([{ fail: "Unauthorized" }], { firstWordMs: 0 })
      const failed = yield* Effect.flip(
        talk({ plan, chat: failing, runTool: () => Effect.die("no tool"), turns: ["hello"] })
      )
      assert.strictEqual(failed.reason, "Unauthorized")
    })
  )
})
