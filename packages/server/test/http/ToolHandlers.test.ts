// Tools over HTTP: paths, statuses and bodies.
import { assert, layer } from "@effect/vitest"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { DataFolder } from "@parley/workspace/storage/Database"
import { Effect, Redacted } from "effect"
import type { AddressInfo } from "node:net"
import { HttpListener } from "../../src/http/HttpListener.ts"
import { serviceWith } from "../../src/testing/TestService.ts"

const service = serviceWith()

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

const caller = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const keys = yield* ApiKeys
  const { path: folder } = yield* DataFolder
  const key = Redacted.value((yield* keys.first(undefined, folder)) ?? Redacted.make(""))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/agent`
  const send = (method: string, path: string, body?: unknown, auth = `Bearer ${key}`) =>
    Effect.promise(async (): Promise<Answer> => {
      const response = await fetch(base + path, {
        method,
        headers: { authorization: auth, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) }
    })
  return { send }
})

const booking = { tool_type: "webhook", name: "Book", url: "https://api.example.com/book", description: "Books." }

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("ToolHandlers", (it) => {
  it.effect("makes, shows, changes, attaches and removes a tool", () =>
    Effect.gen(function* () {
      const { send } = yield* caller
      const made = yield* send("POST", "/tools", {
        ...booking,
        headers: [{ kind: "authorization_bearer", value: "Bearer canary" }]
      })
      assert.strictEqual(made.status, 201)
      assert.notInclude(JSON.stringify(made.body), "canary")
      const path = `/tools/${String(made.body["tool_id"])}`
      assert.deepStrictEqual((yield* send("GET", path)).body, made.body)

      const changed = yield* send("PATCH", path, { timeout_seconds: 60 })
      assert.deepInclude(changed.body, { timeout_seconds: 60, name: "Book", url: booking.url })

      const agent = yield* send("POST", "/agents", {
        name: "Ada",
        config: { tools: { tool_ids: [made.body["tool_id"]] } }
      })
      assert.strictEqual(agent.status, 201)
      const agentPath = `/agents/${String(agent.body["agent_id"])}`
      assert.deepStrictEqual(yield* send("GET", `${path}/agents`), {
        status: 200,
        body: { agents: [{ agent_id: agent.body["agent_id"], name: "Ada" }], total: 1 }
      })
      const list = yield* send("GET", `/tools?agent_id=${String(agent.body["agent_id"])}&include_total=true`)
      assert.deepInclude(list.body, { has_more: false, next_cursor: null, total: 1 })
      assert.deepInclude((list.body["tools"] as ReadonlyArray<object>)[0], { used_by: 1 })

      const refused = yield* send("DELETE", path)
      assert.deepStrictEqual(refused, {
        status: 409,
        body: { status: 409, message: "The tool is attached to 1 agent", reason: null }
      })
      const published = yield* send("POST", `${agentPath}/publish`, {})
      yield* send("PATCH", path, { description: "Books tables." })
      const config = yield* send("GET", `${agentPath}/config`)
      assert.notStrictEqual(config.body["config_hash"], published.body["config_hash"])

      assert.strictEqual((yield* send("PATCH", `${agentPath}/config`, { tools: { tool_ids: [] } })).status, 200)
      assert.strictEqual((yield* send("DELETE", path)).status, 204)
      assert.strictEqual((yield* send("GET", path)).status, 404)
      const gone = yield* send("PATCH", `${agentPath}/config`, { tools: { tool_ids: [made.body["tool_id"]] } })
      assert.strictEqual(gone.status, 422)
      assert.deepInclude((gone.body["errors"] as ReadonlyArray<object>)[0], { loc: ["body", "tools", "tool_ids", 0] })
    })
  )

  it.effect("answers what is wrong with the error body and names the field", () =>
    Effect.gen(function* () {
      const { send } = yield* caller
      const wrong: ReadonlyArray<readonly [ReadonlyArray<string | number>, object]> = [
        [["body", "name"], { ...booking, name: "x".repeat(121) }],
        [["body", "url"], { ...booking, url: "http://127.0.0.1:8080/" }],
        [["body", "url"], { ...booking, url: "http://[::ffff:169.254.169.254]/" }],
        [["body", "nope"], { ...booking, nope: 1 }],
        [["body", "arguments", 0, "name"], { ...booking, arguments: [{ name: "" }] }],
        [["body", "timeout_seconds"], { ...booking, timeout_seconds: 200 }],
        [["body", "mock_responses", 0, "status_code"], { ...booking, mock_responses: [{ name: "m", status_code: 1 }] }]
      ]
      for (const [loc, body] of wrong) {
        const answer = yield* send("POST", "/tools", body)
        assert.strictEqual(answer.status, 422, loc.join("."))
        assert.deepStrictEqual((answer.body["errors"] as ReadonlyArray<{ loc: unknown }>)[0]?.loc, loc)
        assert.notInclude(JSON.stringify(answer.body), "169.254")
      }
      const made = yield* send("POST", "/tools", booking)
      const path = `/tools/${String(made.body["tool_id"])}`
      assert.strictEqual((yield* send("PATCH", path, { description: null })).status, 422)
      assert.strictEqual((yield* send("GET", "/tools?cursor=x")).status, 400)
      assert.strictEqual((yield* send("GET", path, undefined, "Bearer wrong")).status, 401)
      const missing = { status: 404, body: { status: 404, message: "Tool not found", reason: null } }
      assert.deepStrictEqual(yield* send("GET", "/tools/tool_unknown"), missing)
      assert.deepStrictEqual(yield* send("POST", "/tools/tool_unknown/test", { arguments: {} }), missing)
      const client = yield* send("POST", "/tools", { tool_type: "client", name: "show_map" })
      assert.strictEqual((yield* send("POST", `/tools/${String(client.body["tool_id"])}/test`, {})).status, 400)
    })
  )
})
