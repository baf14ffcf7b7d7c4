// An OpenAI-compatible `/chat/completions` on loopback that behaves, or misbehaves, as told: for tests of
// every failure a real endpoint has.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** What the server does with one request. */
export type ChatBehaviour =
  | { readonly kind: "say"; readonly text: string; readonly gapMs?: number }
  /** Tool call with its arguments in fragments. */
  | { readonly kind: "tool"; readonly name: string; readonly arguments: string }
  | { readonly kind: "status"; readonly status: number }
  /** The connection is cut: before anything, or after some words. */
  | { readonly kind: "cut"; readonly after: string }
  | { readonly kind: "hang" }
  /** 200 and nothing in it. */
  | { readonly kind: "empty" }
  /** 200 and no event stream. */
  | { readonly kind: "garbage" }

/** The server, and what was asked of it. */
export interface FakeChatServer {
  readonly baseUrl: string
  readonly requests: ReadonlyArray<{
    readonly headers: IncomingMessage["headers"]
    readonly body: Record<string, unknown>
  }>
  /** Requests whose client went away before the end. */
  readonly aborted: () => number
}

/** `behave` is asked for each request, counted from 0. */
export const make = (behave: (index: number) => ChatBehaviour) =>
  Effect.gen(function* () {
    const requests: Array<FakeChatServer["requests"][number]> = []
    let aborted = 0
    const server = createServer((request, response) => {
      let text = ""
      request.on("data", (data: Buffer) => (text += data.toString()))
      request.on("end", () => {
        const index = requests.length
        requests.push({ headers: request.headers, body: JSON.parse(text) as Record<string, unknown> })
        response.on("close", () => void (response.writableFinished || aborted++))
        void act(response, behave(index))
      })
    })
    yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
    yield* Effect.addFinalizer(() =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
    )
    const { port } = server.address() as AddressInfo
    const fake: FakeChatServer = { baseUrl: `http://127.0.0.1:${port}/v1`, requests, aborted: () => aborted }
    return fake
  })

const act = async (response: ServerResponse, how: ChatBehaviour): Promise<void> => {
  if (how.kind === "hang") return
  if (how.kind === "status") return void response.writeHead(how.status).end("{}")
  if (how.kind === "cut" && how.after === "") return void response.destroy()
  response.writeHead(200, { "content-type": "text/event-stream" })
  if (how.kind === "garbage") return void response.end("<html>busy</html>")
  if (how.kind === "say" || how.kind === "cut") {
    const text = how.kind === "say" ? how.text : how.after
    response.write(": keep-alive\n\n")
    for (const [word] of text.matchAll(/\s*\S+/g)) {
      send(response, { choices: [{ delta: { content: word } }] })
      if (how.kind === "say" && how.gapMs !== undefined) await new Promise((done) => setTimeout(done, how.gapMs))
    }
    if (how.kind === "cut") return void setTimeout(() => response.destroy(), 20)
  }
  if (how.kind === "tool") {
    const middle = how.arguments.length >> 1
    const parts = [
      { index: 0, id: "call_a", type: "function", function: { name: how.name, arguments: "" } },
      { index: 0, function: { arguments: how.arguments.slice(0, middle) } },
      { index: 0, function: { arguments: how.arguments.slice(middle) } }
    ]
    for (const part of parts) send(response, { choices: [{ delta: { tool_calls: [part] } }] })
  }
  send(response, { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })
  response.end("data: [DONE]\n\n")
}

const send = (response: ServerResponse, chunk: unknown): void =>
  void response.write(`data: ${JSON.stringify(chunk)}\n\n`)
