// The demo host's whole answer to a request, pure: it folds the caller's messages through the dialogue, and calls a
// booking tool when one is offered, so that tools can be tried offline.
import type { ChatDelta, ChatMessage, ChatRequest, ToolSpec } from "../ChatModel.ts"
import { answer, beginning, type Answer, type Dialogue, greeting } from "./dialogue.ts"

/** The deltas of the answer, in order; never empty. */
export const respond = (request: ChatRequest): ReadonlyArray<ChatDelta> => {
  const { messages, tools } = request
  const last = messages.at(-1)
  if (last?.role === "tool") return [text(afterTool(messages))]
  const callers = messages.filter((message) => message.role === "user").map((message) => message.content)
  const said = callers.filter((content) => !isInstruction(content))
  if (said.length === 0) return [text(greeting)]
  const news = last?.role === "user" ? lateResult(last.content) : undefined
  if (news !== undefined) return [text(news)]
  let state: Dialogue = beginning
  let reply: Answer = { text: greeting, act: null }
  for (const sentence of said) [state, reply] = answer(state, sentence)
  const tool = toolFor(reply, tools)
  if (tool === undefined) return [text(reply.text)]
  const call = { id: `call_${messages.length}`, name: tool.name, arguments: JSON.stringify(argumentsFor(tool, state)) }
  // A booking is announced when the tool has answered; a goodbye comes first.
  const lead = reply.act === "hangUp" ? reply.text : "One moment, please."
  return [text(lead), { _tag: "ToolCall", call }]
}

/** The engine's own instructions come as user messages in square brackets. */
const isInstruction = (content: string): boolean => /^\[(?!keypad)/.test(content)

/** What a tool answered that was started before. */
const lateResult = (content: string): string | undefined =>
  isInstruction(content) ? /<tool_result>\n([\s\S]*)\n<\/tool_result>$/.exec(content)?.[1] : undefined

const afterTool = (messages: ReadonlyArray<ChatMessage>): string => {
  const result = messages.at(-1)?.content ?? ""
  if (/^error/i.test(result)) return "I am sorry, that did not work. Shall we try again?"
  return result.length > 0 && result.length < 160 && !/[{[<]/.test(result)
    ? `Done. ${result}`
    : "Done. Your appointment is booked. Is there anything else?"
}

const toolFor = (reply: Answer, tools: ReadonlyArray<ToolSpec>): ToolSpec | undefined => {
  if (reply.act === "hangUp") return tools.find((tool) => tool.name === "hang_up_call")
  if (reply.act === "book") return tools.find((tool) => /book|appointment|reserv|schedul/i.test(tool.name))
  return undefined
}

const argumentsFor = (tool: ToolSpec, { slots }: Dialogue): Readonly<Record<string, unknown>> => {
  const properties = Object.keys((tool.parameters["properties"] as Readonly<Record<string, unknown>> | undefined) ?? {})
  const value = (name: string): string => {
    if (/day|date/i.test(name)) return slots.day ?? ""
    if (/time|hour/i.test(name)) return slots.time ?? ""
    return /name|customer|caller/i.test(name) ? (slots.name ?? "") : ""
  }
  return Object.fromEntries(properties.map((name) => [name, value(name)]).filter(([, filled]) => filled !== ""))
}

const text = (content: string): ChatDelta => ({ _tag: "Text", text: content })
