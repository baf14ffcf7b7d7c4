import { assert, describe, it } from "@effect/vitest"
import type { StoredTool } from "@parley/contract/Tool"
import { mergeTool } from "@parley/workspace/tools/ToolRow"
import { Redacted } from "effect"
import { functionName } from "../../src/plan/functionName.ts"
import { plannedTools } from "../../src/plan/plannedTools.ts"

const tool = (name: string, more: Partial<StoredTool> = {}) => ({
  tool_id: name,
  definition: { ...mergeTool(undefined, { name, url: "https://example.com/" }, []), ...more }
})

const planned = (...tools: ReadonlyArray<ReturnType<typeof tool>>) =>
  plannedTools(tools, () => ({ open: (sealed) => Redacted.make(`opened ${sealed}`) }), { today: "2026-03-02" })

describe("functionName", () => {
  it.each([
    ["Book a table!", "book_a_table"],
    ["Réserver à midi", "reserver_a_midi"],
    ["__own", "own"],
    ["予約", "tool"],
    ["a-b_c", "a-b_c"],
    ["x".repeat(120), "x".repeat(64)]
  ])("makes of %s %s", (name, expected) => assert.strictEqual(functionName(name), expected))
})

describe("plannedTools", () => {
  it("keeps names apart, the app's own ones and the service's as they are", () => {
    const client = { tool_type: "client", url: "" } as const
    const names = planned(tool("Show map"), tool("Show-Map "), tool("show_map", client), tool("Hang up call")).map(
      ({ spec }) => spec.name
    )
    assert.deepStrictEqual(names, ["show_map_2", "show-map", "show_map", "hang_up_call_2"])
  })

  it("tells the model the arguments and the engine how to run it", () => {
    const [webhook, silent, asking] = planned(
      tool("Book", {
        description: "Books.",
        arguments: [
          { name: "day", description: "Which day" },
          { name: "time", description: "" }
        ],
        headers: [
          { name: "X-Key", kind: "custom", value: "s1" },
          { name: "Authorization", kind: "authorization_basic", value: "s2" }
        ],
        execution_mode: "background",
        timeout_seconds: 200,
        error_handling: "hide"
      }),
      tool("blink", { tool_type: "client", url: "", expects_response: false }),
      tool("ask", { tool_type: "client", url: "" })
    )
    assert.deepInclude(webhook, { source: "webhook", mode: "background", timeoutMs: 200_000, errorHandling: "hide" })
    assert.deepStrictEqual(webhook?.spec.parameters, {
      type: "object",
      properties: { day: { type: "string", description: "Which day" }, time: { type: "string" } },
      required: ["day", "time"]
    })
    assert.deepStrictEqual(
      webhook?.webhook?.headers.map(({ name, value }) => [name, Redacted.value(value)]),
      [
        ["X-Key", "opened s1"],
        ["Authorization", "opened s2"]
      ]
    )
    assert.notInclude(JSON.stringify(webhook), "opened")
    assert.deepStrictEqual([silent?.source, silent?.mode, silent?.webhook], ["client", "fire_and_forget", undefined])
    assert.deepStrictEqual([asking?.mode, asking?.spec.description], ["blocking", "ask"])
  })
})
