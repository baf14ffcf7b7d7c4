// A call whose tools are real requests: the built-in host books over a webhook on loopback, and says what came of it.
import { assert, describe, it } from "@effect/vitest"
import type { StoredTool } from "@parley/contract/Tool"
import { rehearse } from "@parley/engine/testing/Rehearsal"
import * as DemoHost from "@parley/llm/demo/DemoHost"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import { readAllowed } from "@parley/workspace/outbound/AllowedPrivate"
import { systemParts } from "@parley/workspace/outbound/Dial"
import { makeSafeClient } from "@parley/workspace/outbound/SafeClient"
import { SafeHttp } from "@parley/workspace/outbound/SafeHttp"
import { mergeTool } from "@parley/workspace/tools/ToolRow"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { plannedTools } from "../../src/plan/plannedTools.ts"
import { webhookTools } from "../../src/tools/WebhookTools.ts"

interface ReceivedRequest {
  readonly line: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An endpoint on loopback, and tools that are allowed to ask it. */
const endpoint = Effect.fnUntraced(function* (answer: (response: ServerResponse, asked: ReceivedRequest) => void) {
  const asked: Array<ReceivedRequest> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const one = {
        line: `${request.method} ${request.url}`,
        headers: request.headers,
        body: Buffer.concat(chunks).toString()
      }
      asked.push(one)
      answer(response, one)
    })
  })
  yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
  yield* Effect.addFinalizer(() => Effect.sync(() => void (server.closeAllConnections(), server.close())))
  const http = yield* makeSafeClient(systemParts(readAllowed(["127.0.0.0/8"])))
  const runTool = yield* Effect.provideService(webhookTools, SafeHttp, http)
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const tools = (more: Partial<StoredTool>) => {
    const definition = { ...mergeTool(undefined, { name: "Book appointment", url: base }, []), ...more }
    return plannedTools(
      [{ tool_id: "t", definition: { ...definition, timeout_seconds: 120 } }],
      () => ({ open: Redacted.make }),
      {
        today: "2026-03-02",
        caller_number: "+14155550123"
      }
    )
  }
  return { asked, base, runTool, tools }
})

/** Lets the call's clock run, and real sockets have their turns, until it is so. */
const until = (what: string, check: () => boolean) =>
  Effect.gen(function* () {
    for (let i = 0; i < 4_000; i++) {
      if (check()) return
      yield* TestClock.adjust(20)
      yield* Effect.promise(() => new Promise((tick) => setTimeout(tick, 1)))
    }
    return yield* Effect.die(`did not happen: ${what}`)
  })

const types = (
  call: { readonly caller: { readonly sends: (event: { type: "user.message"; text: string }) => void } },
  text: string
) => call.caller.sends({ type: "user.message", text })

describe("a call with webhook tools", () => {
  it.effect("books, speaks the answer and keeps both in its history", () =>
    Effect.gen(function* () {
      const { asked, base, runTool, tools } = yield* endpoint((response) =>
        response.writeHead(201).end("Your booking number is seven.")
      )
      const call = yield* rehearse({
        chat: DemoHost.make(),
        runTool,
        tools: tools({
          url: `${base}/days/{{day}}?today={{system.today}}&from={{system.caller_number}}`,
          arguments: ["day", "time", "name"].map((name) => ({ name, description: "" })),
          body_template: '{"name":"{{name}}","time":"{{time}}","left":"{{left}}"}',
          headers: [
            { name: "Authorization", kind: "authorization_bearer", value: "Bearer tool-secret" },
            { name: "X-Name", kind: "custom", value: "{{name}}" }
          ]
        })
      })
      const spoken = (words: string) => () => call.transcript().some((line) => line.includes(words))
      types(call, "Monday at three pm please, my name is Ada")
      yield* until("asked to confirm", spoken("Shall I book it?"))
      types(call, "yes please")
      yield* until("told the answer", spoken("Done. Your booking number is seven."))

      assert.deepStrictEqual(
        asked.map(({ line }) => line),
        ["POST /days/Monday?today=2026-03-02&from=%2B14155550123"]
      )
      const [request] = asked
      assert.deepInclude(request?.headers, {
        authorization: "Bearer tool-secret",
        "x-name": "Ada",
        "content-type": "application/json"
      })
      const body = JSON.parse(request?.body ?? "") as Record<string, string>
      assert.deepStrictEqual([body["name"], body["left"]], ["Ada", "{{left}}"])
      const [sent, result] = call.items().filter((item) => item.type !== "message")
      assert.deepInclude(sent, { type: "tool_call", tool_name: "book_appointment", tool_source: "webhook" })
      assert.deepInclude(result, {
        type: "tool_result",
        status: "completed",
        output: "Your booking number is seven.",
        output_truncated: false
      })
      assert.notInclude(JSON.stringify(call.facts), "tool-secret")
    })
  )

  it.effect("tells the model of an error, or hides it; the history has it either way", () =>
    Effect.gen(function* () {
      for (const handling of ["passthrough", "hide"] as const) {
        const { runTool, tools } = yield* endpoint((response) => response.writeHead(409).end("that day is full"))
        const chat = makeScriptedChatModel(({ messages }) => {
          const last = messages.at(-1)
          return last?.role === "tool" ? `I was told: ${last.content}` : { tool: { name: "book_appointment" } }
        })
        const call = yield* rehearse({ chat, runTool, tools: tools({ error_handling: handling }) })
        types(call, "Book it")
        const told = handling === "hide" ? "Error: the call failed." : "the endpoint answered 409: that day is full"
        yield* until(handling, () => call.transcript().some((line) => line.includes(told)))
        const result = call.items().find((item) => item.type === "tool_result")
        assert.deepInclude(result, { status: "failed", error: "the endpoint answered 409: that day is full" })
      }
    })
  )

  it.effect("refuses an address that is not public, and arguments that lead elsewhere", () =>
    Effect.gen(function* () {
      const { asked, base, runTool, tools } = yield* endpoint((response) => response.end("never"))
      const ask = (more: Partial<StoredTool>, args: Record<string, string>) => {
        const [tool] = tools(more)
        return tool === undefined
          ? Effect.die("no tool")
          : Effect.map(Effect.flip(runTool({ sessionId: "s", tool, args })), ({ message }) => message)
      }
      assert.strictEqual(yield* ask({ url: "http://10.0.0.1/" }, {}), "the address is not public")
      assert.strictEqual(
        yield* ask({ url: `${base}/a/{{id}}/b` }, { id: ".." }),
        "an argument does not fit into the address"
      )
      assert.deepStrictEqual(asked, [])
    })
  )

  it.effect("lets a call's end not tear what was told to go on by itself", () =>
    Effect.gen(function* () {
      let arrived: ServerResponse | undefined
      const { runTool, tools } = yield* endpoint((response) => void (arrived = response))
      const chat = makeScriptedChatModel(({ messages }) =>
        messages.at(-1)?.role === "tool" ? "Noted." : { tool: { name: "book_appointment" } }
      )
      const call = yield* rehearse({ chat, runTool, tools: tools({ execution_mode: "fire_and_forget" }) })
      types(call, "Book it")
      yield* until("the endpoint is asked", () => arrived !== undefined)
      call.endAsked("user_hangup")
      yield* until("the call is over", () => call.ended() !== undefined)
      const results = () => call.items().filter((item) => item.type === "tool_result")
      assert.deepStrictEqual(results(), [])
      arrived?.end("done")
      yield* until("the history is complete", () => results().length === 1)
      assert.deepInclude(results()[0], { status: "completed", output: "done" })
    })
  )
})
