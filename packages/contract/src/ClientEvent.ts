// The words between a call and the client app: one UTF-8 JSON object per reliable data
// packet, camelCase, on topic `client-event` (client to agent) and `agent-event` (agent to client).
import { Schema } from "effect"

/** Topic of data from the client. */
export const clientTopic = "client-event"
/** Topic of data from the agent. */
export const agentTopic = "agent-event"
/** Topic of text streams with captions. */
export const transcriptTopic = "lk.transcription"
/** The agent's participant attribute with an `AgentState`. */
export const agentStateAttribute = "lk.agent.state"

/** What the agent is doing. */
export const AgentState = Schema.Literals(["initializing", "idle", "listening", "thinking", "speaking"])
export type AgentState = typeof AgentState.Type

/** The caller typed. */
const UserMessage = Schema.Struct({
  type: Schema.Literal("user.message"),
  text: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(10_000)),
  /** Whether the answer is spoken; default true. The official SDK sends false unless asked. */
  audio: Schema.optionalKey(Schema.Boolean)
})
/** The caller is typing: no re-engagement meanwhile. */
const UserActivity = Schema.Struct({ type: Schema.Literal("user.activity") })
/** The agent is to stop speaking. */
const UserInterrupt = Schema.Struct({ type: Schema.Literal("user.interrupt") })
/** The caller ends the call. */
const UserHangup = Schema.Struct({ type: Schema.Literal("user.hangup") })
/** What a function of the client's app came to. */
const ClientToolResult = Schema.Struct({
  type: Schema.Literal("client_tool.result"),
  callId: Schema.String,
  result: Schema.optionalKey(Schema.Unknown),
  isError: Schema.optionalKey(Schema.Boolean)
})

/** Everything a client can send. */
export const ClientEvent = Schema.Union([UserMessage, UserActivity, UserInterrupt, UserHangup, ClientToolResult])
export type ClientEvent = typeof ClientEvent.Type

const toolEvent = {
  callId: Schema.String,
  toolName: Schema.String,
  toolSource: Schema.String,
  nodeId: Schema.NullOr(Schema.String)
}

/** Everything a client is told. */
export const AgentEvent = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("client_tool.call"),
    callId: Schema.String,
    toolName: Schema.String,
    params: Schema.Unknown,
    expectsResponse: Schema.Boolean
  }),
  Schema.Struct({
    type: Schema.Literal("tool.started"),
    ...toolEvent,
    input: Schema.String,
    inputTruncated: Schema.optionalKey(Schema.Boolean)
  }),
  Schema.Struct({
    type: Schema.Literal("tool.completed"),
    ...toolEvent,
    output: Schema.String,
    outputTruncated: Schema.optionalKey(Schema.Boolean)
  }),
  Schema.Struct({ type: Schema.Literal("tool.failed"), ...toolEvent, error: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("error"),
    code: Schema.Literals(["provider_error", "internal_error"]),
    message: Schema.optionalKey(Schema.String)
  }),
  /** Ours: the latency of the turn just answered, for live pictures. Clients ignore types they do not know. */
  Schema.Struct({ type: Schema.Literal("turn.latency"), latency: Schema.Unknown }),
  /** The call is over; the agent leaves right after. */
  Schema.Struct({ type: Schema.Literal("session.ended"), reason: Schema.String })
])
export type AgentEvent = typeof AgentEvent.Type
