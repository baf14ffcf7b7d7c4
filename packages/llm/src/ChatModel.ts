// The port of a language model: one request, one streamed answer. Own and small rather than `effect/ai`: a call
// runs its own tool loop (a tool outlives a barge-in), and decodes each word once.
// Interrupting the stream cancels the request at the endpoint.
import { Data, type Stream } from "effect"

/** One message of the conversation as a model is told it, oldest first. */
export type ChatMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly toolCalls?: ReadonlyArray<ChatToolCall> }
  | { readonly role: "tool"; readonly callId: string; readonly content: string }

/** A tool call that the model asked for. */
export interface ChatToolCall {
  readonly id: string
  readonly name: string
  /** As the model wrote it; may be invalid JSON. */
  readonly arguments: string
}

/** A tool as it is offered to the model. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments object. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** One question to the model: the whole conversation so far. */
export interface ChatRequest {
  readonly messages: ReadonlyArray<ChatMessage>
  readonly tools: ReadonlyArray<ToolSpec>
  /** Extra top-level body fields (`session_id`, `user_id`, the vendor's extra body). */
  readonly extra: Readonly<Record<string, unknown>>
}

/** A piece of the answer, in order. */
export type ChatDelta =
  | { readonly _tag: "Text"; readonly text: string }
  /** Whole: fragments are joined by the client. */
  | { readonly _tag: "ToolCall"; readonly call: ChatToolCall }
  | { readonly _tag: "Usage"; readonly inputTokens: number; readonly outputTokens: number }

/** `Unavailable`, `Timeout` and `Overloaded` may be tried again; the others fail again. */
export type ChatErrorReason = "Unavailable" | "Timeout" | "Overloaded" | "Unauthorized" | "BadRequest" | "InvalidOutput"

/** Why there is no answer, or no more of it. */
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

/** The port of a language model. */
export interface ChatModel {
  readonly provider: string
  /** Fails with `InvalidOutput` when the answer ends without text or tool call. */
  readonly stream: (request: ChatRequest) => Stream.Stream<ChatDelta, ChatError>
}
