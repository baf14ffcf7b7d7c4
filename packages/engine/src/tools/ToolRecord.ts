// How a tool call is told: as two items of the history and, where the plan wants it, as events of the client. A call
// that was told to have begun is told to have ended exactly once, whatever becomes of it.
import type { AgentEvent } from "@parley/contract/ClientEvent"
import type { Fact } from "@parley/contract/Fact"
import type { SessionItem, ToolSource } from "@parley/contract/SessionItem"
import type { ChatToolCall } from "@parley/llm/ChatModel"
import type { CallClock } from "../time/CallClock.ts"

/** Strings in client events are cut here, in characters; the history keeps up to `outputLimit`. */
const eventLimit = 4_096
const outputLimit = 262_144

/** What history and client are told of a tool. */
export interface ToolName {
  readonly spec: { readonly name: string }
  readonly source: ToolSource
}

/** One of both is null. */
export interface Outcome {
  readonly output: string | null
  readonly error: string | null
}

/** Who is told of tool calls. */
export interface ToolRecordOptions {
  readonly clock: CallClock
  readonly remember: (fact: Fact) => void
  readonly emit: (event: AgentEvent) => void
  /** Whether `tool.*` events are told. */
  readonly events: boolean
}

/** Records the call, and returns what records its end: true for the first end, which is the one that counts. */
export type ToolRecord = (call: ChatToolCall, tool: ToolName, turnId: string) => (outcome: Outcome) => boolean

/** One for the call; outputs are cut to 262,144 characters in the history and 4,096 in events. */
export const make = ({ clock, emit, events, remember }: ToolRecordOptions): ToolRecord => {
  const record = (item: SessionItem): void => remember({ _tag: "ItemRecorded", item })
  const tell = (event: AgentEvent): void => {
    if (events) emit(event)
  }
  return (call, tool, turnId) => {
    const startedAt = clock.now()
    const base = { call_id: call.id, tool_name: tool.spec.name, tool_source: tool.source, turn_id: turnId }
    record({ type: "tool_call", ...base, input: call.arguments, created_at: clock.iso() })
    tell(startedEvent(call, tool))
    let over = false
    return (outcome) => {
      if (over) return false
      over = true
      record({
        type: "tool_result",
        ...base,
        status: outcome.error === null ? "completed" : "failed",
        output: outcome.output?.slice(0, outputLimit) ?? null,
        output_truncated: (outcome.output?.length ?? 0) > outputLimit,
        error: outcome.error,
        latency_ms: Math.round(clock.now() - startedAt),
        created_at: clock.iso()
      })
      tell(doneEvent(call, tool, outcome))
      return true
    }
  }
}

const namesOf = (call: ChatToolCall, { source, spec }: ToolName) =>
  ({ callId: call.id, toolName: spec.name, toolSource: source, nodeId: null }) as const

const startedEvent = (call: ChatToolCall, tool: ToolName): AgentEvent => ({
  type: "tool.started",
  ...namesOf(call, tool),
  input: call.arguments.slice(0, eventLimit),
  ...(call.arguments.length > eventLimit ? { inputTruncated: true } : {})
})

const doneEvent = (call: ChatToolCall, tool: ToolName, { error, output }: Outcome): AgentEvent => {
  const names = namesOf(call, tool)
  if (error !== null) return { type: "tool.failed", ...names, error: error.slice(0, eventLimit) }
  const cut = (output?.length ?? 0) > eventLimit ? { outputTruncated: true } : {}
  return { type: "tool.completed", ...names, output: (output ?? "").slice(0, eventLimit), ...cut }
}
