// Tools of a call: blocking, background, fire-and-forget and the client's own; time-outs, failures and limits.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { AgentEvent } from "@parley/contract/ClientEvent"
import type { Fact } from "@parley/contract/Fact"
import { defaultPlan, type PlannedTool } from "../../src/CallPlan.ts"
import { type RunTool, ToolFailure } from "../../src/ports/CallParts.ts"
import * as ToolRunner from "../../src/tools/ToolRunner.ts"

const tool = (name: string, part: Partial<PlannedTool> = {}): PlannedTool => ({
  spec: { name, description: "", parameters: {} },
  source: "webhook",
  mode: "blocking",
  timeoutMs: 5_000,
  errorHandling: "passthrough",
  ...part
})

const setUp = (tools: ReadonlyArray<PlannedTool>, run: RunTool) =>
  Effect.gen(function* () {
    const facts: Array<Fact> = []
    const events: Array<AgentEvent> = []
    const news: Array<string> = []
    const answers: Array<string> = []
    const defects: Array<unknown> = []
    const life = yield* Scope.fork(yield* Effect.scope)
    const runner = yield* ToolRunner.make({
      call: {
        plan: { ...defaultPlan("ses", ""), tools },
        scope: life,
        clock: { now: () => 0, iso: () => "1970-01-01T00:00:00.000Z" },
        remember: (fact) => void facts.push(fact),
        onDefect: (cause) => void defects.push(cause)
      },
      outliving: yield* Effect.scope,
      run,
      emit: (event) => void events.push(event),
      onNews: (text) => void news.push(text)
    })
    const call = (name: string, args = "{}", id = "c1") =>
      runner.call({ id, name, arguments: args }, "turn_1", (text) => void answers.push(text))
    const results = () =>
      facts.flatMap((fact) => (fact._tag === "ItemRecorded" && fact.item.type === "tool_result" ? [fact.item] : []))
    return { runner, call, answers, defects, news, events, results, life }
  })

const failing = () => Effect.fail(new ToolFailure({ message: "broken pipe" }))
const slow = () => Effect.as(Effect.sleep(1_000), "found")

describe("a tool call", () => {
  it.effect("that blocks answers the model, the history and the client", () =>
    Effect.gen(function* () {
      const { answers, call, events, results } = yield* setUp([tool("look")], ({ args }) =>
        Effect.succeed(`saw ${String(args["what"])}`)
      )
      yield* call("look", '{"what":"it"}')
      assert.deepStrictEqual(answers, ["saw it"])
      assert.strictEqual(results()[0]?.output, "saw it")
      assert.deepStrictEqual(
        events.map((event) => event.type),
        ["tool.started", "tool.completed"]
      )
    })
  )

  it.effect.each([
    ["passthrough", "Error: broken pipe"],
    ["hide", "Error: the call failed."]
  ] as const)("that fails is told as %s asks", ([errorHandling, said]) =>
    Effect.gen(function* () {
      const { answers, call, results } = yield* setUp([tool("look", { errorHandling })], failing)
      yield* call("look")
      assert.deepStrictEqual(answers, [said])
      assert.deepStrictEqual([results()[0]?.status, results()[0]?.error], ["failed", "broken pipe"])
    })
  )

  it.effect("is bounded by its time-out", () =>
    Effect.gen(function* () {
      const { answers, call } = yield* setUp([tool("look")], () => Effect.never)
      yield* Effect.forkScoped(call("look"))
      yield* TestClock.adjust(4_999)
      assert.deepStrictEqual(answers, [])
      yield* TestClock.adjust(1)
      assert.match(answers[0] ?? "", /in time/)
    })
  )

  it.effect("with arguments that are no JSON object, or of an unknown tool, is an error for the model", () =>
    Effect.gen(function* () {
      const { answers, call, results } = yield* setUp([tool("look")], () => Effect.succeed("never"))
      for (const args of ["{", "[1]", "7"]) yield* call("look", args)
      yield* call("nothing")
      assert.strictEqual(answers.filter((answer) => answer.startsWith("Error:")).length, 4)
      assert.deepInclude(results().at(-1), { tool_name: "nothing", tool_source: "unknown", status: "failed" })
    })
  )

  it.effect("in the background goes on beside the conversation, ten at most", () =>
    Effect.gen(function* () {
      const { answers, call, news, results, runner } = yield* setUp([tool("find", { mode: "background" })], slow)
      for (let i = 0; i < 11; i++) yield* call("find", "{}", `c${i}`)
      assert.strictEqual(answers.filter((answer) => answer.startsWith("Started")).length, 10)
      assert.match(answers[10] ?? "", /too many/)
      assert.deepInclude(results()[0], { call_id: "c10", error: "too many background calls are running" })
      assert.strictEqual(results().length, 1)
      assert.strictEqual(runner.inFlight(), 10)
      yield* TestClock.adjust(1_000)
      assert.strictEqual(news.length, 10)
      assert.strictEqual(runner.inFlight(), 0)
    })
  )

  it.effect("keeps its own id where an endpoint gives the same one twice", () =>
    Effect.gen(function* () {
      const { call, results } = yield* setUp([tool("look")], () => Effect.succeed("seen"))
      for (let i = 0; i < 3; i++) yield* call("look")
      assert.deepStrictEqual(
        results().map((result) => result.call_id),
        ["c1", "c1_2", "c1_3"]
      )
    })
  )

  it.effect("that nobody waits for answers at once", () =>
    Effect.gen(function* () {
      const { answers, call, results } = yield* setUp([tool("note", { mode: "fire_and_forget" })], () =>
        Effect.as(Effect.sleep(1_000), "noted")
      )
      yield* call("note")
      assert.deepStrictEqual(answers, ["Done."])
      yield* TestClock.adjust(1_000)
      assert.strictEqual(results()[0]?.output, "noted")
    })
  )

  it.effect("of the client's waits for its result", () =>
    Effect.gen(function* () {
      const { answers, call, events, runner } = yield* setUp([tool("map", { source: "client" })], () => Effect.never)
      yield* Effect.forkScoped(call("map", '{"at":1}'))
      yield* TestClock.adjust(10)
      assert.isTrue(events.some((event) => event.type === "client_tool.call" && event.callId === "c1"))
      runner.onClientResult({ type: "client_tool.result", callId: "other", result: "no" })
      runner.onClientResult({ type: "client_tool.result", callId: "c1", result: { shown: true } })
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(answers, ['{"shown":true}'])
    })
  )
})
