// Expectations of a test: their texts, and editing each of them by one text.
import type { Expectation } from "@parley/contract/AgentTest"

export type ExpectationKind = Expectation["type"]

export const kinds: ReadonlyArray<readonly [ExpectationKind, string]> = [
  ["reply_contains", "The reply contains"],
  ["reply_not_contains", "No reply contains"],
  ["tool_called", "Calls the tool"],
  ["tool_not_called", "Does not call the tool"],
  ["criterion", "The judge confirms:"]
]

/** The one text an expectation is edited by: the words, the tool name or the criterion. */
export const textOf = (one: Expectation): string =>
  "text" in one ? one.text : "tool_name" in one ? one.tool_name : one.description

/** The expectation with another text. */
export const withText = (one: Expectation, text: string): Expectation => {
  switch (one.type) {
    case "reply_contains":
    case "reply_not_contains":
      return { ...one, text }
    case "tool_called":
    case "tool_not_called":
      return { ...one, tool_name: text }
    case "criterion":
      return { ...one, description: text }
  }
}

/** Its text stays. */
export const changedKind = (one: Expectation, type: ExpectationKind): Expectation => {
  const text = textOf(one)
  switch (type) {
    case "reply_contains":
    case "reply_not_contains":
      return { type, text }
    case "tool_called":
    case "tool_not_called":
      return { type, tool_name: text }
    case "criterion":
      return { type, description: text }
  }
}

/** The expectation as a sentence. */
export const formatExpectation = (one: Expectation): string => {
  const words = kinds.find(([kind]) => kind === one.type)?.[1] ?? one.type
  const args = one.type === "tool_called" && one.arguments !== undefined ? ` with ${JSON.stringify(one.arguments)}` : ""
  return one.type === "criterion" ? `${words} ${textOf(one)}` : `${words} “${textOf(one)}”${args}`
}
