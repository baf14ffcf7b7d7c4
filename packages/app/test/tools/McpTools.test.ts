// Tools of MCP servers: against the protocol's official SDK, effect's own server and servers that misbehave; and in a
// whole call on a virtual clock.
import { assert, describe, it } from "@effect/vitest"
import type { McpEndpoint } from "@parley/contract/McpServer"
import { rehearse } from "@parley/engine/testing/Rehearsal"
import { defaultPlan } from "@parley/engine/CallPlan"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import { openSession } from "@parley/workspace/mcp/McpClient"
import type { RunnableMcpServer } from "@parley/workspace/mcp/PinnedMcp"
import { readAllowed } from "@parley/workspace/outbound/AllowedPrivate"
import { systemParts } from "@parley/workspace/outbound/Dial"
import { makeSafeClient } from "@parley/workspace/outbound/SafeClient"
import { SafeHttp } from "@parley/workspace/outbound/SafeHttp"
import { Effect, Exit, Fiber, Redacted, Scope } from "effect"
import { McpProtocol } from "effect/ai"
import { TestClock } from "effect/testing"
import type { IncomingMessage, ServerResponse } from "node:http"
import { mcpListing, mcpTools } from "../../src/tools/McpTools.ts"
import { plannedTools } from "../../src/plan/plannedTools.ts"
import { effectServer, listen, peersMissing, sdkServer } from "./McpPeers.ts"

const local = makeSafeClient(systemParts(readAllowed(["127.0.0.0/8"])))
const info = { name: "parley", version: "1" }

const endpointAt = (url: string, more: Partial<McpEndpoint> = {}): McpEndpoint => ({
  id: "mcp_1",
  url,
  headers: [{ name: "X-Door", value: Redacted.make("open sesame") }],
  timeoutMs: 5_000,
  ...more
})

const serverAt = (url: string, name = "Visits", id = "mcp_1"): RunnableMcpServer => ({
  mcp_server_id: id,
  definition: { name, url, timeout_seconds: 5, headers: [{ name: "X-Door", kind: "custom", value: "open sesame" }] }
})

const session = (url: string, more: Partial<McpEndpoint> = {}) =>
  Effect.flatMap(local, (http) => openSession(http, endpointAt(url, more), info))

/** Until something outside of the clock has happened. */
const until = (what: string, check: () => boolean) =>
  Effect.gen(function* () {
    for (let i = 0; i < 4_000; i++) {
      if (check()) return
      yield* TestClock.adjust(20)
      yield* Effect.promise(() => new Promise((tick) => setTimeout(tick, 1)))
    }
    return yield* Effect.die(`did not happen: ${what}`)
  })

describe.skipIf(peersMissing)("the official SDK's server", () => {
  for (const json of [true, false]) {
    it.live(`lists and runs its tools, and has its session closed (${json ? "JSON" : "event streams"})`, () =>
      Effect.gen(function* () {
        const peer = yield* sdkServer({ json })
        const life = yield* Scope.make()
        const open = yield* Scope.provide(session(peer.url), life)
        const listed = yield* open.listTools(64)
        assert.deepStrictEqual(
          listed.map(({ name }) => name),
          ["find.visit", "cancel_visit"]
        )
        assert.strictEqual(listed[0]?.description, "Finds a visit by its day.")
        assert.deepInclude(listed[0]?.parameters, { type: "object", required: ["day"] })
        const text = yield* open.callTool("find.visit", { day: "2026-03-02" }, 5_000)
        assert.strictEqual(text, "A visit on 2026-03-02\nat three.")
        const failed = yield* Effect.flip(open.callTool("cancel_visit", {}, 5_000))
        assert.deepInclude(failed, { reason: "Tool", message: "there is no such visit" })
        assert.strictEqual(peer.sessions.open.size, 1)
        yield* Scope.close(life, Exit.void)
        assert.strictEqual(peer.sessions.open.size, 0)
      })
    )
  }

  it.live("that forgot the session is greeted again", () =>
    Effect.gen(function* () {
      const peer = yield* sdkServer({ json: true })
      const open = yield* session(peer.url)
      peer.forget()
      const both = Effect.all(
        [1, 2].map((n) => open.callTool("find.visit", { day: `${n}` }, 5_000)),
        {
          concurrency: 2
        }
      )
      assert.deepStrictEqual(yield* both, ["A visit on 1\nat three.", "A visit on 2\nat three."])
      assert.strictEqual(peer.sessions.opened, 2)
    })
  )

  it.live("that wants other credentials is not asked further", () =>
    Effect.gen(function* () {
      const peer = yield* sdkServer({ json: true })
      const wrong = [{ name: "X-Door", value: Redacted.make("canary-of-mcp") }]
      const refused = yield* Effect.flip(session(peer.url, { headers: wrong }))
      assert.deepInclude(refused, { reason: "Refused", message: "the server answered 401" })
    })
  )
})

describe("effect's server", () => {
  for (const protocol of [
    McpProtocol.v2025_03_26,
    McpProtocol.v2025_06_18,
    McpProtocol.v2025_11_25,
    McpProtocol.v2026_07_28
  ]) {
    it.live(`speaks ${protocol.protocolVersion} with us`, () =>
      Effect.gen(function* () {
        const open = yield* session(yield* effectServer(protocol))
        const [tool] = yield* open.listTools(64)
        assert.deepInclude(tool, { name: "get_time", description: "The time in a place." })
        assert.include(yield* open.callTool("get_time", { place: "Rome" }, 5_000), "noon in Rome")
        const failed = yield* Effect.flip(open.callTool("nothing", {}, 5_000))
        assert.oneOf(failed.reason, ["Protocol", "Tool"])
      })
    )
  }
})

interface ReceivedRequest {
  readonly method?: string
  readonly id?: number
  readonly params?: Readonly<Record<string, unknown>>
}

const read = (request: IncomingMessage): Promise<ReceivedRequest> =>
  new Promise((resolve) => {
    let text = ""
    request.on("data", (chunk: Buffer) => void (text += chunk.toString()))
    request.on("end", () => resolve(text === "" ? {} : (JSON.parse(text) as ReceivedRequest)))
  })

/** A server by hand: greets as it should, and then does what it is told. */
const handMade = Effect.fnUntraced(function* (
  act: (asked: ReceivedRequest, response: ServerResponse, answer: (result: unknown) => void) => void
) {
  const asked: Array<ReceivedRequest> = []
  const url = yield* listen((request, response) => {
    void read(request).then((one) => {
      asked.push(one)
      const answer = (result: unknown) =>
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id: one.id, result }))
      if (one.method === "initialize") return answer({ protocolVersion: "2025-06-18", capabilities: { tools: {} } })
      if (one.id === undefined) return response.writeHead(202).end()
      return act(one, response, answer)
    })
  })
  return { asked, url }
})

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })

describe("a server that misbehaves", () => {
  it.live("gives pages of tools without end, and some that cannot be offered", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* handMade(({ params }, _response, answer) => {
        const page = Number(params?.["cursor"] ?? 0)
        const odd = [null, 7, {}, { name: "" }, tool("big", { inputSchema: { type: "object", x: "y".repeat(70_000) } })]
        answer({ tools: [...odd, tool(`t${page}`), { name: `bare${page}` }], nextCursor: `${page + 1}` })
      })
      const open = yield* session(url)
      const tools = yield* open.listTools(7)
      assert.deepStrictEqual(
        tools.map(({ name }) => name),
        ["t0", "bare0", "t1", "bare1", "t2", "bare2", "t3"]
      )
      assert.deepStrictEqual(tools[1], {
        name: "bare0",
        description: "bare0",
        parameters: { type: "object", properties: {} }
      })
      const all = yield* open.listTools(1_000)
      assert.strictEqual(all.length, 40)
      assert.isAtMost(asked.length, 30)
    })
  )

  it.live("keeps its event stream open, behind other messages", () =>
    Effect.gen(function* () {
      const { url } = yield* handMade(({ id }, response) => {
        response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" })
        const say = (message: object) => response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
        say({ jsonrpc: "2.0", method: "notifications/progress", params: {} })
        say({ jsonrpc: "2.0", id: 9_999, result: { content: [{ type: "text", text: "another's" }] } })
        say({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "häl" }] } })
      })
      const open = yield* session(url, { timeoutMs: 60_000 })
      assert.strictEqual(yield* open.callTool("t", {}, 60_000), "häl")
    })
  )

  for (const [what, act] of [
    ["answers nonsense", (_: ReceivedRequest, response: ServerResponse) => void response.writeHead(200).end("<html>")],
    [
      "leads elsewhere",
      (_: ReceivedRequest, response: ServerResponse) => void response.writeHead(302, { location: "/" }).end()
    ],
    [
      "answers with an error",
      ({ id }: ReceivedRequest, response: ServerResponse) =>
        void response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_602, message: "no" } }))
    ],
    [
      "says too much",
      (_: ReceivedRequest, response: ServerResponse) =>
        void response.writeHead(200, { "content-type": "application/json" }).end(`"${"x".repeat(3 * 2 ** 20)}"`)
    ],
    ["goes away", (_: ReceivedRequest, response: ServerResponse) => void response.destroy()],
    [
      "ends its stream without an answer",
      (_: ReceivedRequest, response: ServerResponse) =>
        void response.writeHead(200, { "content-type": "text/event-stream" }).end(": hello\n\n")
    ]
  ] as const) {
    it.live(`${what}: the tool fails`, () =>
      Effect.gen(function* () {
        const { url } = yield* handMade(act)
        const open = yield* session(url)
        const failed = yield* Effect.flip(open.callTool("t", {}, 5_000))
        assert.notInclude(failed.message, "127.0.0.1")
        assert.isAtMost(failed.message.length, 5_000)
      })
    )
  }

  it.live("is told when nobody waits for its answer any more", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* handMade(() => undefined)
      const open = yield* session(url)
      const failed = yield* Effect.flip(open.callTool("slow", {}, 150))
      assert.strictEqual(failed.reason, "Timeout")
      for (let i = 0; i < 500 && !asked.some(({ method }) => method === "notifications/cancelled"); i++) {
        yield* Effect.sleep(10)
      }
      const call = asked.find(({ method }) => method === "tools/call")
      assert.deepInclude(asked.at(-1)?.params, { requestId: call?.id })
    })
  )

  it.live("is no address of ours: nothing is sent", () =>
    Effect.gen(function* () {
      const http = yield* makeSafeClient(systemParts(readAllowed([])))
      const { asked, url } = yield* handMade(() => undefined)
      const failed = yield* Effect.flip(openSession(http, endpointAt(url), info))
      assert.deepInclude(failed, { reason: "Unreachable", message: "the address is not public" })
      assert.deepStrictEqual(asked, [])
    })
  )
})

describe("a call", () => {
  it.effect("uses an MCP tool, names them apart, and goes on without a server that does not answer", () =>
    Effect.gen(function* () {
      const http = yield* local
      const { asked, url } = yield* handMade(({ method }, _response, answer) =>
        answer(
          method === "tools/list"
            ? {
                tools: [
                  {
                    name: "find.visit",
                    description: "Finds.",
                    inputSchema: { type: "object", properties: { day: {} } }
                  },
                  { name: "find_visit" }
                ]
              }
            : { content: [{ type: "text", text: "At three." }] }
        )
      )
      const silent = yield* listen(() => undefined)
      const list = yield* Effect.provideService(mcpListing, SafeHttp, http)
      const asking = yield* Effect.forkScoped(
        list([serverAt(url), serverAt(silent, "Silent", "mcp_2")], () => ({ open: Redacted.make }))
      )
      yield* until("the box is over", () => asking.pollUnsafe() !== undefined)
      const { listed, missing } = yield* Fiber.join(asking)
      assert.deepStrictEqual(missing, [
        { name: "mcp_server_missing", data: { mcp_server_id: "mcp_2", name: "Silent", message: "no answer in time" } }
      ])
      const tools = plannedTools([], () => ({ open: Redacted.make }), {}, listed)
      assert.deepStrictEqual(
        tools.map(({ spec }) => [spec.name, spec.description, spec.parameters]),
        [
          ["visits_find_visit", "Finds.", { type: "object", properties: { day: {} } }],
          ["visits_find_visit_2", "find_visit", { type: "object", properties: {} }]
        ]
      )

      const openTools = yield* Effect.provideService(mcpTools, SafeHttp, http)
      const chat = makeScriptedChatModel(({ messages }) => {
        const last = messages.at(-1)
        return last?.role === "tool"
          ? `It says: ${last.content}`
          : { tool: { name: "visits_find_visit", args: { day: "monday" } } }
      })
      const call = yield* rehearse({ chat, openTools, tools })
      call.caller.sends({ type: "user.message", text: "when is my visit" })
      yield* until("the answer is spoken", () => call.transcript().some((line) => line.includes("It says: At three.")))
      const [sent, result] = call.items().filter((item) => item.type !== "message")
      assert.deepInclude(sent, { type: "tool_call", tool_name: "visits_find_visit", tool_source: "mcp" })
      assert.deepInclude(result, { status: "completed", output: "At three.", tool_source: "mcp" })
      const used = asked.find(({ method }) => method === "tools/call")
      assert.deepStrictEqual(used?.params, { name: "find.visit", arguments: { day: "monday" } })
    })
  )

  it.effect("does not wait for a server to close its session", () =>
    Effect.gen(function* () {
      const http = yield* local
      const url = yield* listen(() => undefined)
      const openTools = yield* Effect.provideService(mcpTools, SafeHttp, http)
      const listed = [{ name: "S", endpoint: endpointAt(url), tools: [{ name: "t", description: "", parameters: {} }] }]
      const tools = plannedTools([], () => ({ open: Redacted.make }), {}, listed)
      const life = yield* Scope.make()
      yield* Scope.provide(openTools({ ...defaultPlan("s", ""), tools }), life)
      yield* Scope.close(life, Exit.void)
    })
  )
})
