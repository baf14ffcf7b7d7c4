// Any OpenAI-compatible `POST {base}/chat/completions`, streamed. Interrupting the stream aborts the
// request at once. No retry here: in a call a retry is heard as silence, so its owner decides.
import { createParser } from "eventsource-parser"
import { Effect, Redacted, Stream } from "effect"
import {
  ChatError,
  type ChatDelta,
  type ChatErrorReason,
  type ChatMessage,
  type ChatModel,
  type ChatRequest
} from "../ChatModel.ts"
import { ChunkReader } from "./ChunkReader.ts"

/** An endpoint and how it is asked. */
export interface OpenAiChatSettings {
  /** Without a trailing `/chat/completions`. */
  readonly baseUrl: string
  readonly model: string
  readonly apiKey?: Redacted.Redacted<string> | undefined
  /** Extra top-level body fields of every request; a request's own win. */
  readonly extraBody?: Readonly<Record<string, unknown>>
  /** Name in `/health`. */
  readonly provider?: string
  /** How the endpoint is reached; left out: the platform's `fetch`. */
  readonly fetch?: ChatFetch | undefined
}

/** The part of `fetch` that is used. Follows no redirect; rejects when there is no answer. */
export type ChatFetch = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly signal: AbortSignal
  }
) => Promise<{ readonly ok: boolean; readonly status: number; readonly body: ReadableStream<Uint8Array> | null }>

/**
 * A model behind one endpoint. HTTP 401 and 403 are `Unauthorized`, 429 `Overloaded`, 408 and 5xx `Unavailable`,
 * other refusals `BadRequest`.
 */
export const make = (settings: OpenAiChatSettings): ChatModel => {
  const provider = settings.provider ?? "openai"
  const url = `${settings.baseUrl.replace(/\/+$/, "").replace(/\/chat\/completions$/, "")}/chat/completions`
  const send: ChatFetch = settings.fetch ?? ((address, init) => fetch(address, { ...init, redirect: "error" }))
  const fail = (reason: ChatErrorReason, message: string): ChatError => new ChatError({ reason, provider, message })

  const post = Effect.fnUntraced(function* (request: ChatRequest) {
    const controller = new AbortController()
    yield* Effect.addFinalizer(() => Effect.sync(() => controller.abort()))
    const response = yield* Effect.tryPromise({
      try: () =>
        send(url, {
          method: "POST",
          headers: headersOf(settings),
          body: JSON.stringify(bodyOf(settings, request)),
          signal: controller.signal
        }),
      catch: () => fail("Unavailable", "no connection to the endpoint")
    })
    if (!response.ok) {
      yield* Effect.ignore(Effect.tryPromise(() => response.body?.cancel() ?? Promise.resolve()))
      return yield* fail(reasonOf(response.status), `the endpoint answered ${response.status}`)
    }
    if (response.body === null) return yield* fail("InvalidOutput", "an answer without a body")
    return response.body
  })

  const read = (body: ReadableStream<Uint8Array>): Stream.Stream<ChatDelta, ChatError> => {
    const reader = new ChunkReader()
    const decoder = new TextDecoder()
    const parser = createParser({ onEvent: (event) => reader.read(event.data) })
    const decode = (bytes: Uint8Array): ReadonlyArray<ChatDelta> => {
      parser.feed(decoder.decode(bytes, { stream: true }))
      return reader.take()
    }
    const closing = Stream.suspend(() => {
      const rest = reader.finish()
      if (reader.error !== null) return Stream.fail(fail("Unavailable", "the endpoint reported an error"))
      return reader.empty
        ? Stream.fail(fail("InvalidOutput", "an answer without text or tool call"))
        : Stream.fromIterable(rest)
    })
    return Stream.fromReadableStream({
      evaluate: () => body,
      onError: () => fail("Unavailable", "the answer broke off")
    }).pipe(
      Stream.flatMap((bytes) => Stream.fromIterable(decode(bytes))),
      Stream.concat(closing)
    )
  }

  return { provider, stream: (request) => Stream.unwrap(Effect.map(post(request), read)) }
}

const headersOf = ({ apiKey }: OpenAiChatSettings): Record<string, string> => ({
  "content-type": "application/json",
  accept: "text/event-stream",
  ...(apiKey === undefined ? {} : { authorization: `Bearer ${Redacted.value(apiKey)}` })
})

const bodyOf = (settings: OpenAiChatSettings, request: ChatRequest): Record<string, unknown> => ({
  ...settings.extraBody,
  ...request.extra,
  model: settings.model,
  messages: request.messages.map(wireMessage),
  ...(request.tools.length === 0 ? {} : { tools: request.tools.map((tool) => ({ type: "function", function: tool })) }),
  stream: true,
  stream_options: { include_usage: true }
})

const wireMessage = (message: ChatMessage): Record<string, unknown> => {
  if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: message.content }
  if (message.role !== "assistant" || message.toolCalls === undefined)
    return { role: message.role, content: message.content }
  return {
    role: "assistant",
    content: message.content === "" ? null : message.content,
    tool_calls: message.toolCalls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: call.arguments }
    }))
  }
}

const reasonOf = (status: number): ChatErrorReason => {
  if (status === 401 || status === 403) return "Unauthorized"
  if (status === 429) return "Overloaded"
  if (status === 408 || status >= 500) return "Unavailable"
  return "BadRequest"
}
