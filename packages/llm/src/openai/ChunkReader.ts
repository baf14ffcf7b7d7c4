// Reads `chat.completion.chunk` objects into deltas, tolerant of what compatible servers leave out or
// add: no choices, usage-only chunks, unknown delta fields, tool calls in fragments or whole, no `[DONE]`.
import { Option, Schema } from "effect"
import type { ChatDelta } from "../ChatModel.ts"

const Fragment = Schema.Struct({
  index: Schema.optionalKey(Schema.Number),
  id: Schema.optionalKey(Schema.NullOr(Schema.String)),
  function: Schema.optionalKey(
    Schema.Struct({
      name: Schema.optionalKey(Schema.NullOr(Schema.String)),
      arguments: Schema.optionalKey(Schema.NullOr(Schema.String))
    })
  )
})

const Chunk = Schema.Struct({
  error: Schema.optionalKey(Schema.Unknown),
  choices: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        delta: Schema.optionalKey(
          Schema.NullOr(
            Schema.Struct({
              content: Schema.optionalKey(Schema.NullOr(Schema.String)),
              tool_calls: Schema.optionalKey(Schema.NullOr(Schema.Array(Fragment)))
            })
          )
        )
      })
    )
  ),
  usage: Schema.optionalKey(
    Schema.NullOr(Schema.Struct({ prompt_tokens: Schema.Number, completion_tokens: Schema.Number }))
  )
})

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Chunk))

/** One answer: chunks of `chat.completion.chunk` in, deltas out. */
export class ChunkReader {
  /** The stream carried an error object. */
  error: unknown = null
  private ready: Array<ChatDelta> = []
  private readonly calls: Array<{ id: string; name: string; arguments: string }> = []
  private texts = 0

  /** One `data:` payload. What cannot be read is passed over. */
  read(data: string): void {
    if (data === "[DONE]") return
    const chunk = Option.getOrUndefined(decode(data))
    if (chunk === undefined) return
    if (chunk.error !== undefined && chunk.error !== null) this.error = chunk.error
    const delta = chunk.choices?.[0]?.delta
    if (delta?.content !== undefined && delta.content !== null && delta.content !== "") {
      this.texts++
      this.ready.push({ _tag: "Text", text: delta.content })
    }
    for (const fragment of delta?.tool_calls ?? []) this.join(fragment)
    if (chunk.usage) {
      const { completion_tokens: outputTokens, prompt_tokens: inputTokens } = chunk.usage
      this.ready.push({ _tag: "Usage", inputTokens, outputTokens })
    }
  }

  take(): ReadonlyArray<ChatDelta> {
    const taken = this.ready
    this.ready = []
    return taken
  }

  /** The stream ended: tool calls are whole now. */
  finish(): ReadonlyArray<ChatDelta> {
    const calls = this.calls.filter((call) => call !== undefined && call.name !== "")
    return [
      ...this.take(),
      ...calls.map((call, i): ChatDelta => ({
        _tag: "ToolCall",
        call: { ...call, id: call.id === "" ? `call_${i}` : call.id }
      }))
    ]
  }

  /** Neither text nor tool call came. */
  get empty(): boolean {
    return this.texts === 0 && this.calls.length === 0
  }

  private join(fragment: typeof Fragment.Type): void {
    const fresh =
      typeof fragment.id === "string" && fragment.id !== "" && !this.calls.some((call) => call?.id === fragment.id)
    const index = fragment.index ?? (fresh || this.calls.length === 0 ? this.calls.length : this.calls.length - 1)
    if (index < 0 || index > 63) return
    const call = (this.calls[index] ??= { id: "", name: "", arguments: "" })
    if (fragment.id) call.id = fragment.id
    call.name += fragment.function?.name ?? ""
    call.arguments += fragment.function?.arguments ?? ""
  }
}
