// What can go wrong with a live session, by a code that apps can branch on.

/** What went wrong. */
export type AgentSessionErrorCode =
  | "session_request_failed"
  | "agent_not_public"
  | "origin_forbidden"
  | "unsupported_transport"
  | "mic_permission_denied"
  | "device_change_failed"
  | "connection_failed"
  | "session_expired"
  | "tool_failed"
  | "tool_timeout"
  | "provider_error"
  | "internal_error"

/** An error with a code for apps and words for people. */
export class AgentSessionError extends Error {
  readonly code: AgentSessionErrorCode
  constructor(code: AgentSessionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = "AgentSessionError"
    this.code = code
  }
}

/** The message of whatever was thrown. */
export const wordsOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
