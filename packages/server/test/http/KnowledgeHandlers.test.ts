// Knowledge sources over HTTP: forms in, statuses and bodies out.
import { assert, layer } from "@effect/vitest"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { DataFolder } from "@parley/workspace/storage/Database"
import { Effect, Redacted } from "effect"
import type { AddressInfo } from "node:net"
import { HttpListener } from "../../src/http/HttpListener.ts"
import { serviceWith } from "../../src/testing/TestService.ts"

const service = serviceWith()

const path = "/v1/agent/knowledge-sources"

const caller = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const keys = yield* ApiKeys
  const { path: folder } = yield* DataFolder
  const key = Redacted.value((yield* keys.first(undefined, folder)) ?? Redacted.make(""))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = (method: string, where: string, body?: FormData | string, type?: string) =>
    Effect.promise(async () => {
      const response = await fetch(base + where, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(type === undefined ? {} : { "content-type": type }) },
        ...(body === undefined ? {} : { body })
      })
      const text = await response.text()
      return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) }
    })
  return { send }
})

const form = (parts: Record<string, string | readonly [string | Uint8Array<ArrayBuffer>, string]>) => {
  const data = new FormData()
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === "string") data.append(name, part)
    else data.append(name, new Blob([part[0]], { type: "text/markdown" }), part[1])
  }
  return data
}

const bytes = (size: number) => new Uint8Array(size).fill(97)

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("KnowledgeHandlers", (it) => {
  it.effect("makes, shows, changes, attaches and removes a source", () =>
    Effect.gen(function* () {
      const { send } = yield* caller
      const made = yield* send("POST", path, form({ source: ["# Hours\n\nNine to five.", "hours.md"] }))
      assert.strictEqual(made.status, 201)
      assert.deepInclude(made.body, { name: "hours.md", file_name: "hours.md", description: "", size_bytes: 22 })
      const own = `${path}/${String(made.body["knowledge_source_id"])}`
      const shown = yield* send("GET", own)
      assert.deepStrictEqual(shown, { status: 200, body: { ...made.body, content: "# Hours\n\nNine to five." } })

      const named = yield* send("PATCH", own, form({ name: "Hours", description: "When we are open." }))
      assert.strictEqual(named.status, 200)
      assert.deepInclude(named.body, { name: "Hours", description: "When we are open.", revision_number: 1 })
      const changed = yield* send("PATCH", own, form({ source: ["Ten to six.", "C:\\new.TXT"] }))
      assert.deepInclude(changed.body, { name: "Hours", file_name: "new.TXT", revision_number: 2, chunk_count: 1 })
      const listed = yield* send("GET", `${path}?search=hours&include_total=true`)
      assert.deepStrictEqual(listed.body, {
        knowledge_sources: [changed.body],
        has_more: false,
        next_cursor: null,
        total: 1
      })

      const config = { knowledge_base: { knowledge_source_ids: [made.body["knowledge_source_id"]] } }
      const agent = yield* send("POST", "/v1/agent/agents", JSON.stringify({ name: "Ada", config }), "application/json")
      assert.strictEqual(agent.status, 201)
      const users = yield* send("GET", `${own}/agents`)
      assert.deepStrictEqual(users.body, { agents: [{ agent_id: agent.body["agent_id"], name: "Ada" }], total: 1 })
      assert.strictEqual((yield* send("DELETE", own)).status, 409)
      yield* send("DELETE", `/v1/agent/agents/${String(agent.body["agent_id"])}`)
      assert.deepStrictEqual(yield* send("DELETE", own), { status: 204, body: {} })
      assert.strictEqual((yield* send("GET", own)).status, 404)
      assert.strictEqual((yield* send("PATCH", own, form({ name: "x" }))).status, 404)
    })
  )

  it.effect("refuses what is no document", () =>
    Effect.gen(function* () {
      const { send } = yield* caller
      const refusals: ReadonlyArray<readonly [number, FormData | string | undefined, string?]> = [
        [400, form({ name: "No file" })],
        [400, form({ source: "text, but no file" })],
        [400, form({ source: ["x", "a.pdf"] })],
        [400, form({ source: ["", "a.md"] })],
        [400, form({ source: [" \n", "a.md"] })],
        [400, form({ source: [new Uint8Array([0x61, 0xff, 0xfe]), "a.md"] })],
        [400, form({ source: ["a\0b", "a.md"] })],
        [400, "not a form", "multipart/form-data; boundary=x"],
        [413, form({ source: [bytes(1_048_577), "a.md"] })],
        [413, form({ source: [bytes(3_000_000), "a.md"] })],
        [415, "{}", "application/json"],
        [415, undefined],
        [422, form({ source: ["x", "a.md"], name: "n".repeat(257) })],
        [422, form({ source: ["x", "a.md"], description: "n".repeat(2001) })]
      ]
      for (const [status, body, type] of refusals) {
        const answer = yield* send("POST", path, body, type)
        assert.strictEqual(answer.status, status, JSON.stringify(answer.body))
        assert.isString(answer.body["message"])
      }
      const most = yield* send("POST", path, form({ source: [bytes(1_048_576), "a.md"] }))
      assert.deepInclude(most, { status: 201 })
      assert.deepInclude(most.body, { size_bytes: 1_048_576 })
      assert.strictEqual((yield* send("GET", `${path}?cursor=x`)).status, 400)
    })
  )
})
