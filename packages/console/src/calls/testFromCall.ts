// A test made from a call: the caller's turns, and the tools that were called. Without tools, a judge rates the replies.
import type { Expectation, AgentTestCreate } from "@parley/contract/AgentTest"
import type { SessionDetail } from "@parley/contract/Session"

/** Undefined when the caller said nothing. */
export const testFromCall = (call: SessionDetail): typeof AgentTestCreate.Encoded | undefined => {
  const turns = call.items.flatMap((item) => {
    const said = item.type === "message" && item.role === "user" ? item.content.replace(/\s+/g, " ").trim() : ""
    return said === "" ? [] : [said]
  })
  if (turns.length === 0) return undefined
  const tools = call.items.flatMap((item) =>
    item.type === "tool_call" && item.tool_source !== "builtin" && item.tool_source !== "unknown"
      ? [item.tool_name]
      : []
  )
  const used = [...new Set(tools)].map((tool_name): Expectation => ({ type: "tool_called", tool_name }))
  return {
    name: `As in the call of ${call.created_at.slice(0, 16).replace("T", " ")}`,
    turns: turns.slice(0, most),
    expectations: used.length === 0 ? [judged] : used.slice(0, most)
  }
}

const most = 20

const judged: Expectation = { type: "criterion", description: "The agent helps the caller with what they ask for" }
