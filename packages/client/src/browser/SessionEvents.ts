// What a live session tells its app: the events, their payloads, and an emitter that one bad listener cannot
// stop. Callback options are `on` + the event's name with a capital.
import type { AgentEvent } from "@parley/contract/ClientEvent"
import type { AgentSessionError } from "./AgentSessionError.ts"

/** The connection. */
export type AgentSessionStatus = "connecting" | "connected" | "reconnecting" | "disconnected"
/** What the agent does: `listening` until it first thinks or speaks. */
export type AgentSessionMode = "listening" | "thinking" | "speaking"

/** `connection_lost` is ours; the others are the service's `end_reason`, which may grow. */
export type AgentSessionEndReason =
  | "user_hangup"
  | "agent_hangup"
  | "connection_lost"
  | "conversation_timeout"
  | "escalated"
  | (string & {})

type ToolEvent<T extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: T }>

/** Every event and its payload. */
export interface AgentSessionEvents {
  connect: { readonly sessionId: string }
  disconnect: { readonly reason: AgentSessionEndReason }
  statusChange: { readonly status: AgentSessionStatus }
  modeChange: { readonly mode: AgentSessionMode }
  /** Replaces what was told before for the segment. */
  userTranscript: { readonly segmentId: string; readonly text: string; readonly final: boolean }
  /** `text` is the whole segment so far. */
  agentResponseDelta: { readonly segmentId: string; readonly delta: string; readonly text: string }
  agentResponse: { readonly segmentId: string; readonly text: string }
  /** A finished utterance of either side, as it enters `getTranscript()`. */
  message: { readonly role: "user" | "agent"; readonly text: string }
  toolCallStarted: ToolEvent<"tool.started">
  toolCallCompleted: ToolEvent<"tool.completed">
  toolCallFailed: ToolEvent<"tool.failed">
  /** The waits of the turn just answered. */
  turnLatency: ToolEvent<"turn.latency">["latency"]
  error: AgentSessionError
}

/** Takes the payload of one event. */
export type AgentSessionListener<K extends keyof AgentSessionEvents> = (payload: AgentSessionEvents[K]) => void

/** The events as options: `onConnect`, `onMessage`, ... */
export type AgentSessionCallbacks = {
  readonly [K in keyof AgentSessionEvents as `on${Capitalize<K>}`]?: AgentSessionListener<K>
}

/** Tells listeners. An exception of one is reported and does not stop the others. */
export class SessionEmitter {
  readonly #listeners = new Map<keyof AgentSessionEvents, Set<(payload: never) => void>>()

  constructor(callbacks: AgentSessionCallbacks = {}) {
    for (const [name, callback] of Object.entries(callbacks)) {
      if (typeof callback !== "function" || !/^on[A-Z]/.test(name)) continue
      const event = `${name.charAt(2).toLowerCase()}${name.slice(3)}` as keyof AgentSessionEvents
      this.on(event, callback as AgentSessionListener<typeof event>)
    }
  }

  /** Returns the function that takes the listener away again. */
  on<K extends keyof AgentSessionEvents>(event: K, listener: AgentSessionListener<K>): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  emit<K extends keyof AgentSessionEvents>(event: K, payload: AgentSessionEvents[K]): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        ;(listener as AgentSessionListener<K>)(payload)
      } catch (error) {
        reportError(error)
      }
    }
  }
}
