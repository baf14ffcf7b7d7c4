// The port of the mind: one request, one streamed answer. Own and small rather than `effect/ai`: a call
// runs its own tool loop (a tool outlives a barge-in), and decodes each word once.
// Interrupting the stream cancels the request at the endpoint.
import { Data, type Stream } from "effect"

export type ChatMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly toolCalls?: ReadonlyArray<ChatToolCall> }
  | { readonly role: "tool"; readonly callId: string; readonly content: string }

export interface ChatToolCall {
  readonly id: string
  readonly name: string
  /** As the model wrote it; may be invalid JSON. */
  readonly arguments: string
}

export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments object. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface ChatRequest {
  readonly messages: ReadonlyArray<ChatMessage>
  readonly tools: ReadonlyArray<ToolSpec>
  /** Extra top-level body fields (`session_id`, `user_id`, the vendor's extra body). */
  readonly extra: Readonly<Record<string, unknown>>
}

export type ChatDelta =
  | { readonly _tag: "Text"; readonly text: string }
  /** Whole: fragments are joined by the client. */
  | { readonly _tag: "ToolCall"; readonly call: ChatToolCall }
  | { readonly _tag: "Usage"; readonly inputTokens: number; readonly outputTokens: number }

export type ChatErrorReason = "Unavailable" | "Timeout" | "Overloaded" | "Unauthorized" | "BadRequest" | "InvalidOutput"

export class ChatError extends Data.TaggedError("ChatError")<{
  readonly reason: ChatErrorReason
  readonly provider: string
  /** For people; holds no key, text or address. */
  readonly message: string
}> {
  get isRetryable(): boolean {
    return this.reason === "Unavailable" || this.reason === "Timeout" || this.reason === "Overloaded"
  }
}

export interface ChatModel {
  readonly provider: string
  /** Fails with `InvalidOutput` when the answer ends without text or tool call. */
  readonly stream: (request: ChatRequest) => Stream.Stream<ChatDelta, ChatError>
}
