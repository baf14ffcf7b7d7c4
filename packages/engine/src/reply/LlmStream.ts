// One round of the model: words as they come, tool calls at the end. Bounded: a first word within
// `firstWordMs` including one retry, no gap longer than `gapMs`. Interrupting it cancels the request.
import { Clock, Effect, Result, Stream } from "effect"
import { ChatError, type ChatDelta, type ChatModel, type ChatRequest, type ChatToolCall } from "@parley/llm/ChatModel"

/** To the first word, one retry included. */
const firstWordMs = 10_000
const gapMs = 15_000

/** What one request to the model came to. */
export interface Round {
  readonly text: string
  readonly toolCalls: ReadonlyArray<ChatToolCall>
  /** The stream broke after words had come: what came is the answer. */
  readonly broken: ChatError | null
}

/** `onText` gets each piece of text as it comes and may hold the stream back. Fails only when not a single word or tool call came. */
export const round = Effect.fnUntraced(function* (
  chat: ChatModel,
  request: ChatRequest,
  onText: (text: string) => Effect.Effect<void>
): Effect.fn.Return<Round, ChatError> {
  const clock = yield* Clock.Clock
  const giveUpAt = clock.currentTimeMillisUnsafe() + firstWordMs
  const timeLeft = (): number => Math.max(1, giveUpAt - clock.currentTimeMillisUnsafe())
  const first = yield* Effect.result(attempt(chat, request, onText, timeLeft))
  if (Result.isSuccess(first)) return first.success
  const left = timeLeft()
  if (!first.failure.isRetryable || left < 500) return yield* first.failure
  return yield* attempt(chat, request, onText, timeLeft)
})

interface Next {
  readonly deltas: ReadonlyArray<ChatDelta>
  readonly broken: ChatError | null
  readonly over: boolean
}

const attempt = (
  chat: ChatModel,
  request: ChatRequest,
  onText: (text: string) => Effect.Effect<void>,
  timeLeft: () => number
): Effect.Effect<Round, ChatError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const pull = yield* Stream.toPull(chat.stream(request))
      let text = ""
      const toolCalls: Array<ChatToolCall> = []
      const take = (delta: ChatDelta): Effect.Effect<void> => {
        if (delta._tag === "ToolCall") toolCalls.push(delta.call)
        if (delta._tag !== "Text") return Effect.void
        text += delta.text
        return onText(delta.text)
      }
      for (;;) {
        const began = text !== "" || toolCalls.length > 0
        const next: Next = yield* pull.pipe(
          Effect.map((deltas): Next => ({ deltas, broken: null, over: false })),
          Effect.timeoutOrElse({
            duration: began ? gapMs : timeLeft(),
            orElse: () => Effect.fail(overdue(chat.provider))
          }),
          Effect.catch((error): Effect.Effect<Next, ChatError> => {
            if (!(error instanceof ChatError)) return Effect.succeed({ deltas: [], broken: null, over: true })
            return began ? Effect.succeed({ deltas: [], broken: error, over: true }) : Effect.fail(error)
          })
        )
        for (const delta of next.deltas) yield* take(delta)
        if (next.over) return { text, toolCalls, broken: next.broken }
      }
    })
  )

const overdue = (provider: string): ChatError =>
  new ChatError({ reason: "Timeout", provider, message: "no word within the bound" })
