// A chat model that answers from a script, with chosen delays on the Effect Clock. The last entry
// repeats. It keeps the requests and counts those that were cancelled.
import { Effect, Stream } from "effect"
import { ChatError, type ChatDelta, type ChatErrorReason, type ChatModel, type ChatRequest } from "../ChatModel.ts"

/** One answer of the script; times in milliseconds. */
export interface ScriptedAnswer {
  readonly text?: string
  /** To the first word; `Infinity` never answers. */
  readonly firstWordMs?: number
  readonly msPerWord?: number
  readonly tool?: { readonly name: string; readonly args?: Readonly<Record<string, unknown>> }
  /** Fails in place of the first word, or after the text when there is one. */
  readonly fail?: ChatErrorReason
}

/** The model, and what was asked of it. */
export interface ScriptedChatModel extends ChatModel {
  readonly requests: ReadonlyArray<ChatRequest>
  readonly cancelled: () => number
}

/**
 * `script`: answers in order, or a function of the request; `defaults`: 200 ms to the first word, all words at
 * once.
 */
export const makeScriptedChatModel = (
  script: ReadonlyArray<string | ScriptedAnswer> | ((request: ChatRequest) => string | ScriptedAnswer),
  defaults: { readonly firstWordMs?: number; readonly msPerWord?: number } = {}
): ScriptedChatModel => {
  const requests: Array<ChatRequest> = []
  let cancelled = 0
  let calls = 0
  const answerTo = (request: ChatRequest): ScriptedAnswer => {
    const entry =
      typeof script === "function" ? script(request) : (script[Math.min(requests.length, script.length) - 1] ?? "")
    return typeof entry === "string" ? { text: entry } : entry
  }
  const play = (answer: ScriptedAnswer): Stream.Stream<ChatDelta, ChatError> => {
    const wait = answer.firstWordMs ?? defaults.firstWordMs ?? 200
    const pace = answer.msPerWord ?? defaults.msPerWord ?? 0
    const broken = (): ChatError =>
      new ChatError({ reason: answer.fail ?? "Unavailable", provider: "scripted", message: "scripted failure" })
    const words: ReadonlyArray<ChatDelta> = [...(answer.text ?? "").matchAll(/\s*\S+/g)].map(([text]) => ({
      _tag: "Text",
      text
    }))
    const tools: ReadonlyArray<ChatDelta> =
      answer.tool === undefined
        ? []
        : [
            {
              _tag: "ToolCall",
              call: { id: `call_${++calls}`, name: answer.tool.name, arguments: JSON.stringify(answer.tool.args ?? {}) }
            }
          ]
    const text = Stream.fromIterable(words).pipe(
      pace > 0 ? Stream.tap(() => Effect.sleep(pace)) : (stream) => stream,
      Stream.concat(Stream.fromIterable(tools)),
      Stream.concat(answer.fail === undefined ? Stream.empty : Stream.fail(broken()))
    )
    return Stream.concat(
      Stream.drain(Stream.fromEffect(Number.isFinite(wait) ? Effect.sleep(wait) : Effect.never)),
      text
    )
  }
  return {
    provider: "scripted",
    requests,
    cancelled: () => cancelled,
    stream: (request) =>
      Stream.suspend(() => {
        requests.push(request)
        return Stream.onExit(play(answerTo(request)), (exit) =>
          Effect.sync(() => {
            if (exit._tag === "Failure" && exit.cause.reasons.some((reason) => reason._tag === "Interrupt")) cancelled++
          })
        )
      })
  }
}
