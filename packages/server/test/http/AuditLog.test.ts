// The audit log over HTTP: each change has one entry with its operation, record and key; nothing else has any.
import { assert, layer } from "@effect/vitest"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { AuditLog } from "@parley/workspace/identity/AuditLog"
import { newId } from "@parley/workspace/storage/Id"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { AddressInfo } from "node:net"
import { HttpListener } from "../../src/http/HttpListener.ts"
import { serviceWith } from "../../src/testing/TestService.ts"

type Body = Readonly<Record<string, unknown>>

/** A workspace of its own with one key. */
const workspace = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const { id, key } = yield* (yield* ApiKeys).create(newId("ws"), { label: "office" })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = (method: string, path: string, body?: unknown) =>
    Effect.promise(async () => {
      const isForm = body instanceof FormData
      const response = await fetch(base + path, {
        method,
        headers: {
          authorization: `Bearer ${Redacted.value(key)}`,
          ...(isForm ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) })
      })
      const isJson = response.headers.get("content-type")?.includes("json") === true
      return { status: response.status, body: (isJson ? await response.json() : {}) as Body }
    })
  const entries = Effect.map(ask("GET", "/v1/audit-log"), ({ body }) => body["audit_entries"] as ReadonlyArray<Body>)
  return { ask, entries, id }
})

layer(serviceWith(), { excludeTestServices: true, timeout: "60 seconds" })("AuditLog", (it) => {
  it.effect("has every change with its operation, its record and its key, and nothing of what was sent", () =>
    Effect.gen(function* () {
      const { ask, entries, id: keyId } = yield* workspace
      const made = yield* ask("POST", "/v1/agent/agents", { name: "canary" })
      const agent = String(made.body["agent_id"])
      const path = `/v1/agent/agents/${agent}`
      const llm = { custom: { base_url: "https://llm.example.com/v1", model: "m", api_key: "canary" } }
      yield* ask("PATCH", `${path}/config`, { llm })
      yield* ask("POST", `${path}/publish`)
      const copied = yield* ask("POST", `${path}/duplicate`)
      const tool = yield* ask("POST", "/v1/agent/tools", { name: "Book", url: "https://api.example.com/canary" })
      const form = new FormData()
      form.append("source", new File(["# canary"], "a.md", { type: "text/markdown" }))
      const source = yield* ask("POST", "/v1/agent/knowledge-sources", form)
      const test = yield* ask("POST", "/v1/agent/tests", {
        name: "greets",
        turns: ["canary"],
        expectations: [{ type: "reply_contains", text: "hello" }]
      })
      const testId = String(test.body["test_id"])
      yield* ask("PUT", `${path}/tests/${testId}`)
      const number = yield* ask("POST", "/v1/agent/phone-numbers", {
        provider: "sip",
        phone_number: "+14155550177",
        inbound_allowed_addresses: ["203.0.113.7"]
      })
      const key = yield* ask("POST", "/v1/keys", { label: "till" })
      yield* ask("DELETE", path)
      const before = yield* entries

      // What reads, fails, speaks or calls is no change.
      yield* ask("GET", "/v1/agent/agents")
      yield* ask("PATCH", "/v1/agent/agents/agent_none", { name: "x" })
      yield* ask("PATCH", `/v1/agent/tools/${String(tool.body["tool_id"])}`, { timeout_seconds: -1 })
      yield* ask("POST", "/v1/tts", { text: "hello", format: "wav" })
      yield* ask("POST", `/v1/agent/agents/${String(copied.body["agent_id"])}/preview-sessions`)
      const all = yield* entries
      assert.deepStrictEqual(all, before)

      assert.deepStrictEqual(
        all.toReversed().map(({ action, resource_id, resource_type }) => [action, resource_type, resource_id]),
        [
          ["agents.createAgent", "agent", agent],
          ["agents.updateAgentConfig", "agent", agent],
          ["agents.publishAgent", "agent", agent],
          ["agents.duplicateAgent", "agent", copied.body["agent_id"]],
          ["tools.createTool", "tool", tool.body["tool_id"]],
          ["knowledgeSources.createKnowledgeSource", "knowledge_source", source.body["knowledge_source_id"]],
          ["agentTests.createTest", "test", testId],
          ["agentTests.attachTest", "test", testId],
          ["phoneNumbers.createPhoneNumber", "phone_number", number.body["phone_number_id"]],
          ["keys.createKey", "key", key.body["key_id"]],
          ["agents.deleteAgent", "agent", agent]
        ]
      )
      for (const entry of all) assert.deepInclude(entry, { key_id: keyId, key_label: "office" })
      assert.notInclude(JSON.stringify(all), "canary")
      assert.notInclude(JSON.stringify(all), String(key.body["key"]))
    })
  )

  it.effect("is one workspace's own, in pages, and forgets after 400 days", () =>
    Effect.gen(function* () {
      const { ask, entries } = yield* workspace
      const other = yield* workspace
      const sql = yield* SqlClient.SqlClient
      for (const name of ["one", "two", "three"]) yield* ask("POST", "/v1/agent/agents", { name })
      assert.deepStrictEqual(yield* other.entries, [])
      const [newest, second, oldest] = yield* entries
      const page = yield* ask("GET", "/v1/audit-log?page_size=1&include_total=true")
      assert.deepStrictEqual([page.body["audit_entries"], page.body["total"]], [[newest], 3])
      const next = yield* ask("GET", `/v1/audit-log?page_size=1&cursor=${String(page.body["next_cursor"])}`)
      assert.deepStrictEqual(next.body["audit_entries"], [second])
      yield* sql`UPDATE audit_entries SET created_at = now() - interval '399 days'
        WHERE id = ${String(second?.["audit_entry_id"])}`
      yield* sql`UPDATE audit_entries SET created_at = now() - interval '401 days'
        WHERE id = ${String(oldest?.["audit_entry_id"])}`
      assert.strictEqual(yield* (yield* AuditLog).expire, 1)
      assert.strictEqual((yield* entries).length, 2)
    })
  )
})
