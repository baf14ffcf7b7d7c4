// Sessions without a key, over HTTP against the whole service.
import { assert, layer } from "@effect/vitest"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { firstWorkspace } from "@parley/workspace/identity/Workspaces"
import { Effect, Redacted } from "effect"
import type { AddressInfo } from "node:net"
import { HttpListener } from "../src/http/HttpListener.ts"
import { serviceWith } from "../src/testing/TestService.ts"

const service = serviceWith()

const shop = "https://shop.example"

const publicAgent = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const { key } = yield* (yield* ApiKeys).create(firstWorkspace)
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
    Effect.promise(async () => {
      const response = await fetch(base + path, {
        method,
        headers: { "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      return { status: response.status, body: (await response.json().catch(() => ({}))) as Record<string, unknown> }
    })
  const keyed = { authorization: `Bearer ${Redacted.value(key)}` }
  const agent = Effect.fnUntraced(function* (patch: Record<string, unknown>, publish = true) {
    const { body } = yield* send("POST", "/v1/agent/agents", keyed, { name: "Shop" })
    const id = String(body["agent_id"])
    yield* send("PATCH", `/v1/agent/agents/${id}`, keyed, patch)
    if (publish) yield* send("POST", `/v1/agent/agents/${id}/publish`, keyed)
    return id
  })
  const visit = (agentId: string, origin: string | undefined, more: Record<string, unknown> = {}) =>
    send("POST", "/v1/agent/sessions", origin === undefined ? {} : { origin }, { agent_id: agentId, ...more })
  return { agent, keyed, send, visit }
})

const open = { public_enabled: true, allowed_origins: [shop], overrides_allowed: ["voice_id", "language"] }

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("Public sessions", (it) => {
  it.effect("are made for a page on the agent's list, and say so in the record", () =>
    Effect.gen(function* () {
      const { agent, keyed, send, visit } = yield* publicAgent
      const id = yield* agent(open)
      const made = yield* visit(id, "https://SHOP.example", { overrides: { voice_id: "rms" } })
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      const record = yield* send("GET", `/v1/agent/sessions/${String(made.body["session_id"])}`, keyed)
      assert.strictEqual(record.body["source"], "public")
      const widget = yield* send("GET", `/v1/agent/agents/${id}/widget`, { origin: shop })
      assert.deepStrictEqual(widget.body, { agent_name: "Shop" })
    })
  )

  it.effect("are refused with the reason", () =>
    Effect.gen(function* () {
      const { agent, send, visit } = yield* publicAgent
      const id = yield* agent(open)
      const hidden = yield* agent({ ...open, public_enabled: false })
      const draft = yield* agent(open, false)
      const refusals: ReadonlyArray<readonly [string, string | undefined, Record<string, unknown>, number, RegExp]> = [
        [hidden, shop, {}, 403, /not public/],
        ["agent_unknown", shop, {}, 403, /not public/],
        [id, undefined, {}, 403, /Origin header/],
        [id, "https://evil.example", {}, 403, /origin is not allowed/],
        [id, "http://shop.example", {}, 403, /origin is not allowed/],
        [id, "https://shop.example:444", {}, 403, /origin is not allowed/],
        [id, "null", {}, 403, /origin is not allowed/],
        [draft, shop, {}, 403, /unavailable/],
        [id, shop, { name: "x" }, 400, /name/],
        [id, shop, { overrides: { system_prompt: "x" } }, 400, /system_prompt/],
        [id, shop, { end_user_id: "u", metadata: { a: 1 } }, 400, /set end_user_id, metadata$/],
        [id, shop, { dynamic_variables: { a: "b" } }, 400, /set dynamic_variables$/],
        [id, shop, { llm_extra_body: { model: "x" } }, 400, /set llm_extra_body$/],
        [id, shop, { record_audio: true, tool_events: true }, 400, /set record_audio, tool_events$/],
        [id, shop, { overrides: { voice_id: "nobody" } }, 422, /voice_id/],
        [id, shop, { surprise: 1 }, 422, /surprise/]
      ]
      for (const [agentId, origin, more, status, message] of refusals) {
        const answer = yield* visit(agentId, origin, more)
        assert.strictEqual(answer.status, status, JSON.stringify(answer.body))
        assert.match(String(answer.body["message"]), message)
      }
      const wrong = yield* send(
        "POST",
        "/v1/agent/sessions",
        { origin: shop, authorization: "Bearer wrong" },
        { agent_id: id }
      )
      assert.strictEqual(wrong.status, 401)
      assert.strictEqual((yield* send("GET", `/v1/agent/agents/${id}/widget`, {})).status, 403)
    })
  )

  it.effect("carry what the owner lets visitors set, and tell of tools only then", () =>
    Effect.gen(function* () {
      const { agent, keyed, send, visit } = yield* publicAgent
      const closed = yield* visit(yield* agent(open), shop, { client_timezone: "Europe/Paris", tool_events: false })
      assert.strictEqual(closed.status, 201, JSON.stringify(closed.body))
      const id = yield* agent({ ...open, public_fields_allowed: ["end_user_id", "dynamic_variables"] })
      const made = yield* visit(id, shop, { end_user_id: "u1", dynamic_variables: { name: "Ada" } })
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      const record = yield* send("GET", `/v1/agent/sessions/${String(made.body["session_id"])}`, keyed)
      assert.strictEqual(record.body["end_user_id"], "u1")
      assert.strictEqual((yield* visit(id, shop, { metadata: { a: 1 } })).status, 400)
      assert.strictEqual(
        (yield* send("PATCH", `/v1/agent/agents/${id}`, keyed, { public_fields_allowed: ["name"] })).status,
        422
      )
    })
  )

  it.effect("are only so many in a minute from one address", () =>
    Effect.gen(function* () {
      const { agent, visit } = yield* publicAgent
      const id = yield* agent(open)
      const answers = yield* Effect.all(
        Array.from({ length: 24 }, () => visit(id, shop)),
        { concurrency: 4 }
      )
      const statuses = new Set(answers.map(({ status }) => status))
      assert.isTrue(statuses.has(429))
      assert.isTrue([...statuses].every((status) => status === 201 || status === 429))
    })
  )
})
