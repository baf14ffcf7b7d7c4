// Tools in a whole call: what is told later comes at a natural pause, what nobody waits for is only remembered, and
// the end of the call finds every call settled.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import type { PlannedTool } from "../../src/CallPlan.ts"
import { type RunTool, ToolFailure } from "../../src/ports/CallParts.ts"
import { type Rehearsal, type RehearsalScript, rehearse } from "../../src/testing/Rehearsal.ts"
import { during, wait } from "./acting.ts"

const tool = (part: Partial<PlannedTool>): PlannedTool => ({
  spec: { name: "look_up", description: "", parameters: {} },
  source: "webhook",
  mode: "blocking",
  timeoutMs: 30_000,
  errorHandling: "passthrough",
  ...part
})

const resultIn = (content: string): string | undefined =>
  /^\[Result of look_up, .*\]\n<tool_result>\n(.*)\n<\/tool_result>$/.exec(content)?.[1]

/** Calls the tool when first spoken to; afterwards says what it was told last. */
const calling = (speech: string) =>
  makeScriptedChatModel(({ messages }) => {
    const last = messages.at(-1)
    const news = last?.role === "user" ? resultIn(last.content) : undefined
    if (news !== undefined) return `News: ${news}`
    if (messages.some(({ role }) => role === "tool"))
      return last?.role === "tool" ? speech : `You said ${last?.content}`
    return { tool: { name: "look_up", args: { day: "monday" } } }
  })

const begin = (part: Partial<PlannedTool>, runTool: RunTool, script: RehearsalScript = {}, speech = "On it.") =>
  Effect.gen(function* () {
    const chat = calling(speech)
    const call = yield* rehearse({ chat, tools: [tool(part)], runTool, ...script })
    call.caller.sends({ type: "user.message", text: "look it up" })
    return Object.assign(call, { chat })
  })

const after =
  (ms: number, outcome: Effect.Effect<string, ToolFailure> = Effect.succeed("seven")): RunTool =>
  () =>
    Effect.andThen(Effect.sleep(ms), outcome)

const never = () => Effect.die("runs in the app")

const results = (call: Rehearsal) => call.items().flatMap((item) => (item.type === "tool_result" ? [item] : []))
const events = (call: Rehearsal) =>
  call.leg.messages.flatMap(({ message }) => (message._tag === "Event" ? [message.event] : []))
const toolEvents = (call: Rehearsal) => events(call).flatMap(({ type }) => (/tool/.test(type) ? [type] : []))
const clientCall = (call: Rehearsal) => events(call).find((event) => event.type === "client_tool.call")

describe("a background tool", () => {
  it.effect("is announced as soon as nobody speaks, when it comes in silence", () =>
    Effect.gen(function* () {
      const call = yield* begin({ mode: "background" }, after(10_000))
      yield* wait(9_900)
      assert.deepStrictEqual(call.transcript(), ["user: look it up", "assistant: On it."])
      yield* wait(5_000)
      assert.deepStrictEqual(call.transcript().slice(2), ["assistant: News: seven"])
      assert.deepStrictEqual([results(call)[0]?.output, results(call)[0]?.latency_ms], ["seven", 10_000])
    })
  )

  it.effect("lets the agent finish what it says", () =>
    Effect.gen(function* () {
      const long = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen."
      const call = yield* begin({ mode: "background" }, after(600), {}, long)
      yield* wait(30_000)
      assert.deepStrictEqual(call.transcript(), ["user: look it up", `assistant: ${long}`, "assistant: News: seven"])
    })
  )

  it.effect("lets the caller finish, and is known to the answer even if that was begun speculatively before", () =>
    Effect.gen(function* () {
      const call = yield* begin({ mode: "background" }, after(10_000), { hears: ["and something else"] })
      yield* wait(9_000)
      // Voice until 9.8 s: the speculative reply is begun before the result comes at 10.2 s, the turn is over after it.
      yield* during(Effect.andThen(call.caller.speaks(800), call.caller.pauses(3_000)), 12_000)
      const said = call.transcript().slice(2)
      assert.strictEqual(said[0], "user: and something else")
      assert.strictEqual(said.length, 2)
      const last = call.chat.requests.at(-1)?.messages ?? []
      assert.strictEqual(last.filter(({ content, role }) => role === "user" && resultIn(content) === "seven").length, 1)
    })
  )

  it.effect.each([
    ["passthrough", "Error: the endpoint answered 500"],
    ["hide", "Error: the call failed."]
  ] as const)("that fails is delivered the same way, %s", ([errorHandling, told]) =>
    Effect.gen(function* () {
      const failing = after(5_000, Effect.fail(new ToolFailure({ message: "the endpoint answered 500" })))
      const call = yield* begin({ mode: "background", errorHandling }, failing)
      yield* wait(12_000)
      assert.strictEqual(call.transcript().at(-1), `assistant: News: ${told}`)
      assert.strictEqual(results(call)[0]?.error, "the endpoint answered 500")
    })
  )

  it.effect("is cancelled by the end of the call, and in the history before it", () =>
    Effect.gen(function* () {
      let done = 0
      const call = yield* begin({ mode: "background" }, () =>
        Effect.as(
          Effect.andThen(
            Effect.sleep(20_000),
            Effect.sync(() => done++)
          ),
          "late"
        )
      )
      yield* wait(3_000)
      call.endAsked("agent_hangup")
      yield* wait(30_000)
      assert.strictEqual(done, 0)
      assert.deepInclude(results(call)[0], { status: "failed", error: "cancelled: the call ended" })
      assert.strictEqual(call.facts.at(-1)?._tag, "CallEnded")
    })
  )
})

describe("a tool nobody waits for", () => {
  it.effect("outlives the call with its own time-out, and only the history learns of it", () =>
    Effect.gen(function* () {
      const call = yield* begin({ mode: "fire_and_forget" }, after(8_000))
      yield* wait(3_000)
      const asked = call.chat.requests.length
      call.endAsked("user_hangup")
      yield* wait(1_000)
      assert.strictEqual(call.ended(), "user_hangup")
      assert.deepStrictEqual(results(call), [])
      yield* wait(8_000)
      assert.deepInclude(results(call)[0], { status: "completed", output: "seven", latency_ms: 8_000 })
      assert.strictEqual(call.chat.requests.length, asked)

      const stuck = yield* begin({ mode: "fire_and_forget", timeoutMs: 40_000 }, () => Effect.never)
      yield* wait(3_000)
      stuck.endAsked("user_hangup")
      yield* wait(60_000)
      assert.deepInclude(results(stuck)[0], { status: "failed", error: "the tool did not answer in time" })
    })
  )

  it.effect("fails in silence", () =>
    Effect.gen(function* () {
      const call = yield* begin(
        { mode: "fire_and_forget" },
        after(2_000, Effect.fail(new ToolFailure({ message: "broken" })))
      )
      yield* wait(20_000)
      assert.deepStrictEqual(call.transcript(), ["user: look it up", "assistant: On it."])
      assert.deepInclude(results(call)[0], { status: "failed", error: "broken" })
      assert.isFalse(JSON.stringify(call.chat.requests).includes("broken"))
    })
  )
})

describe("a tool of the client's app", () => {
  const client = { source: "client" } as const

  it.effect("gets one result: unknown, late and repeated ones are nothing", () =>
    Effect.gen(function* () {
      const call = yield* begin({ ...client, timeoutMs: 5_000 }, never)
      yield* wait(1_000)
      const asked = clientCall(call)
      assert.deepInclude(asked, { toolName: "look_up", params: { day: "monday" }, expectsResponse: true })
      const callId = asked?.type === "client_tool.call" ? asked.callId : ""
      const answer = (id: string, result: string) =>
        call.caller.sends({ type: "client_tool.result", callId: id, result })
      answer("nobody", "unknown")
      answer(callId, "first")
      answer(callId, "second")
      yield* wait(5_000)
      answer(callId, "late")
      yield* wait(5_000)
      assert.deepStrictEqual(
        results(call).map(({ output }) => output),
        ["first"]
      )
      assert.notMatch(JSON.stringify(call.chat.requests), /unknown|second|late/)
    })
  )

  it.effect("is given up after its time-out", () =>
    Effect.gen(function* () {
      const call = yield* begin({ ...client, timeoutMs: 5_000 }, never)
      yield* wait(12_000)
      assert.deepInclude(results(call)[0], { status: "failed", latency_ms: 5_000 })
      const asked = clientCall(call)
      const callId = asked?.type === "client_tool.call" ? asked.callId : ""
      call.caller.sends({ type: "client_tool.result", callId, result: "late" })
      yield* wait(3_000)
      assert.strictEqual(results(call)[0]?.output, null)
    })
  )

  it.effect("that is not to respond is not waited for", () =>
    Effect.gen(function* () {
      const call = yield* begin({ ...client, mode: "fire_and_forget" }, never)
      yield* wait(5_000)
      assert.deepInclude(clientCall(call), { expectsResponse: false })
      assert.deepStrictEqual(call.transcript(), ["user: look it up", "assistant: On it."])
      assert.deepInclude(results(call)[0], { status: "completed", output: "" })
    })
  )

  it.effect("is called also where the client is told nothing of tools", () =>
    Effect.gen(function* () {
      const call = yield* begin({ ...client, timeoutMs: 2_000 }, never, { toolEvents: false })
      yield* wait(5_000)
      assert.deepStrictEqual(toolEvents(call), ["client_tool.call"])
      const told = yield* begin({ ...client, timeoutMs: 2_000 }, never)
      yield* wait(5_000)
      assert.deepStrictEqual(toolEvents(told), ["tool.started", "client_tool.call", "tool.failed"])
    })
  )
})
