// The chat client against a real HTTP server on loopback: the good answer and every bad one.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Stream } from "effect"
import type { ChatDelta, ChatRequest } from "../src/ChatModel.ts"
import * as Failover from "../src/Failover.ts"
import * as OpenAiChat from "../src/openai/OpenAiChat.ts"
import { type ChatBehaviour, make as fakeServer } from "../src/testing/FakeChatServer.ts"

const request: ChatRequest = {
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hello" },
    { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "look", arguments: "{}" }] },
    { role: "tool", callId: "c1", content: "seen" }
  ],
  tools: [{ name: "look", description: "Looks.", parameters: { type: "object" } }],
  extra: { session_id: "ses_1" }
}

const against = (...behaviours: ReadonlyArray<ChatBehaviour>) =>
  Effect.map(
    fakeServer((index) => behaviours[Math.min(index, behaviours.length - 1)] as ChatBehaviour),
    (server) => ({
      server,
      model: OpenAiChat.make({ baseUrl: server.baseUrl, model: "m", apiKey: Redacted.make("secret-key") })
    })
  )

const textOf = (deltas: Iterable<ChatDelta>): string =>
  [...deltas].map((delta) => (delta._tag === "Text" ? delta.text : "")).join("")

describe("the chat client", () => {
  it.live("streams words and usage, and sends the documented body", () =>
    Effect.gen(function* () {
      const { model, server } = yield* against({ kind: "say", text: "Hello there, how are you?" })
      const deltas = yield* Stream.runCollect(model.stream(request))
      assert.strictEqual(textOf(deltas), "Hello there, how are you?")
      assert.deepStrictEqual(deltas.at(-1), { _tag: "Usage", inputTokens: 7, outputTokens: 3 })
      const [sent] = server.requests
      assert.strictEqual(sent?.headers.authorization, "Bearer secret-key")
      const { messages, tools, ...body } = sent?.body ?? {}
      assert.deepStrictEqual(body, {
        model: "m",
        stream: true,
        stream_options: { include_usage: true },
        session_id: "ses_1"
      })
      assert.strictEqual((messages as ReadonlyArray<unknown>).length, 4)
      assert.deepStrictEqual(tools, [{ type: "function", function: request.tools[0] }])
    })
  )

  it.live("joins the fragments of a tool call", () =>
    Effect.gen(function* () {
      const { model } = yield* against({ kind: "tool", name: "look", arguments: '{"at":"the sky"}' })
      const deltas = yield* Stream.runCollect(model.stream(request))
      const call = deltas.find((delta) => delta._tag === "ToolCall")
      assert.deepStrictEqual(call?.call, { id: "call_a", name: "look", arguments: '{"at":"the sky"}' })
    })
  )

  it.live.each([
    [{ kind: "status", status: 500 }, "Unavailable"],
    [{ kind: "status", status: 429 }, "Overloaded"],
    [{ kind: "status", status: 401 }, "Unauthorized"],
    [{ kind: "status", status: 400 }, "BadRequest"],
    [{ kind: "cut", after: "" }, "Unavailable"],
    [{ kind: "cut", after: "Half a" }, "Unavailable"],
    [{ kind: "empty" }, "InvalidOutput"],
    [{ kind: "garbage" }, "InvalidOutput"]
  ] as ReadonlyArray<[ChatBehaviour, string]>)("meets %j with %s, no key in its words", ([behaviour, reason]) =>
    Effect.gen(function* () {
      const { model } = yield* against(behaviour)
      const error = yield* Effect.flip(Stream.runDrain(model.stream(request)))
      assert.strictEqual(error.reason, reason)
      assert.notInclude(error.message, "secret-key")
    })
  )

  it.live("meets a dead address with Unavailable", () =>
    Effect.gen(function* () {
      const model = OpenAiChat.make({ baseUrl: "http://127.0.0.1:9/v1", model: "m" })
      const error = yield* Effect.flip(Stream.runDrain(model.stream(request)))
      assert.strictEqual(error.reason, "Unavailable")
      assert.isTrue(error.isRetryable)
    })
  )

  it.live("interrupted, cancels the request at the endpoint", () =>
    Effect.gen(function* () {
      const { model, server } = yield* against({ kind: "say", text: "word ".repeat(1_000), gapMs: 20 })
      const fiber = yield* Effect.forkChild(Stream.runDrain(model.stream(request)))
      yield* Effect.sleep(200)
      yield* Fiber.interrupt(fiber)
      for (let i = 0; i < 100 && server.aborted() === 0; i++) yield* Effect.sleep(10)
      assert.strictEqual(server.aborted(), 1)
    })
  )

  it.live("hands over to the next model when the first fails before its first word", () =>
    Effect.gen(function* () {
      const first = yield* against({ kind: "status", status: 503 })
      const second = yield* against({ kind: "say", text: "Served." })
      const both = Failover.make([first.model, second.model])
      for (const _ of [1, 2]) assert.strictEqual(textOf(yield* Stream.runCollect(both.stream(request))), "Served.")
      // The first one rests after its failure.
      assert.strictEqual(first.server.requests.length, 1)
      assert.deepStrictEqual(
        both.health().map((health) => health.healthy),
        [false, true]
      )
    })
  )
})
