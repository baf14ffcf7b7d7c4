// Keys managed with keys, over HTTP: made, listed, changed, rotated, revoked, and never more than the one that asks.
import { assert, layer } from "@effect/vitest"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import type { ApiKeyCreate } from "@parley/contract/ApiKey"
import { newId } from "@parley/workspace/storage/Id"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { AddressInfo } from "node:net"
import { HttpListener } from "../../src/http/HttpListener.ts"
import { serviceWith } from "../../src/testing/TestService.ts"

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** A workspace of its own, and requests with any key. */
const workspace = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const keys = yield* ApiKeys
  const name = newId("ws")
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = (key: string, method: string, path: string, body?: unknown) =>
    Effect.promise(async (): Promise<Answer> => {
      const response = await fetch(base + path, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) }
    })
  const make = (given: Partial<ApiKeyCreate> = {}) =>
    Effect.map(keys.create(name, given), ({ id, key }) => ({ id, key: Redacted.value(key) }))
  const opens = (key: unknown) =>
    Effect.map(ask(String(key), "GET", "/v1/agent/agents"), ({ status }) => status === 200)
  return { ask, make, opens }
})

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
const listOf = ({ body }: Answer) => body["keys"] as ReadonlyArray<Record<string, unknown>>

layer(serviceWith(), { excludeTestServices: true, timeout: "60 seconds" })("KeyHandlers", (it) => {
  it.effect("make a key whose secret is shown once, list, change and revoke it", () =>
    Effect.gen(function* () {
      const { ask, make, opens } = yield* workspace
      const { key: owner } = yield* make()
      const made = yield* ask(owner, "POST", "/v1/keys", { label: "till", scopes: ["read", "call"] })
      assert.strictEqual(made.status, 201)
      const { key, ...shown } = made.body
      assert.match(String(key), /^pk_/)
      assert.deepInclude(shown, { label: "till", scopes: ["read", "call"], expires_at: null, revoked_at: null })
      assert.isTrue(yield* opens(key))
      const listed = yield* ask(owner, "GET", "/v1/keys?include_total=true")
      assert.deepStrictEqual([listed.body["total"], listOf(listed)[0]?.["key_id"]], [2, shown["key_id"]])
      assert.notInclude(JSON.stringify(listed.body), String(key))
      assert.strictEqual(listOf(yield* ask(owner, "GET", "/v1/keys?page_size=1")).length, 1)

      const path = `/v1/keys/${String(shown["key_id"])}`
      const expires_at = inDays(1)
      const changed = yield* ask(owner, "PATCH", path, { label: "shop", expires_at })
      assert.deepInclude(changed.body, { label: "shop", expires_at, scopes: ["read", "call"] })
      const kept = yield* ask(owner, "PATCH", path, { expires_at: null })
      assert.deepInclude(kept.body, { label: "shop", expires_at: null })
      assert.strictEqual((yield* ask(owner, "DELETE", path)).status, 204)
      assert.isFalse(yield* opens(key))
      assert.strictEqual((yield* ask(owner, "DELETE", path)).status, 404)
      assert.strictEqual((yield* ask(owner, "PATCH", path, { label: "x" })).status, 404)
      assert.strictEqual(listOf(yield* ask(owner, "GET", "/v1/keys")).length, 1)
    })
  )

  it.effect("rotate a key: a new secret with the same scopes, the former one goes on as long as was said", () =>
    Effect.gen(function* () {
      const { ask, make, opens } = yield* workspace
      const { key: owner } = yield* make()
      const expires_at = inDays(30)
      const former = yield* make({ label: "till", scopes: ["read"], expires_at })
      const rotated = yield* ask(owner, "POST", `/v1/keys/${former.id}/rotate`, { overlap_seconds: 3600 })
      assert.strictEqual(rotated.status, 201)
      assert.deepInclude(rotated.body, { label: "till", scopes: ["read"], expires_at, revoked_at: null })
      assert.notStrictEqual(rotated.body["key_id"], former.id)
      assert.deepStrictEqual([yield* opens(former.key), yield* opens(rotated.body["key"])], [true, true])
      const until = listOf(yield* ask(owner, "GET", "/v1/keys")).find(({ key_id }) => key_id === former.id)?.[
        "revoked_at"
      ]
      assert.isTrue(Date.parse(String(until)) > Date.now() + 3_000_000)
      assert.strictEqual((yield* ask(owner, "POST", `/v1/keys/${former.id}/rotate`)).status, 409)
      yield* (yield* SqlClient.SqlClient)`UPDATE api_keys SET revoked_at = now() WHERE id = ${former.id}`
      assert.deepStrictEqual([yield* opens(former.key), yield* opens(rotated.body["key"])], [false, true])

      const atOnce = yield* ask(owner, "POST", `/v1/keys/${String(rotated.body["key_id"])}/rotate`)
      assert.strictEqual(atOnce.status, 201)
      assert.deepStrictEqual([yield* opens(rotated.body["key"]), yield* opens(atOnce.body["key"])], [false, true])
      const tooLong = { overlap_seconds: 7 * 86_400 + 1 }
      assert.strictEqual((yield* ask(owner, "POST", `/v1/keys/${former.id}/rotate`, tooLong)).status, 422)
    })
  )

  it.effect("give no key more than the one that asks has: neither scopes nor time", () =>
    Effect.gen(function* () {
      const { ask, make } = yield* workspace
      const all = yield* make()
      const { key: manager } = yield* make({ scopes: ["read", "manage"] })
      const refused = yield* ask(manager, "POST", "/v1/keys", { scopes: ["read", "speak"] })
      assert.strictEqual(refused.status, 403)
      assert.include(String(refused.body["message"]), "speak")
      assert.strictEqual((yield* ask(manager, "POST", "/v1/keys", {})).status, 403)
      assert.strictEqual((yield* ask(manager, "POST", "/v1/keys", { scopes: ["read"] })).status, 201)
      assert.strictEqual((yield* ask(manager, "POST", `/v1/keys/${all.id}/rotate`)).status, 403)

      const brief = yield* make({ expires_at: inDays(1) })
      const create = (expires_at: string | null) => ask(brief.key, "POST", "/v1/keys", { expires_at })
      assert.deepStrictEqual(
        [(yield* create(null)).status, (yield* create(inDays(2))).status, (yield* create(inDays(0.5))).status],
        [403, 403, 201]
      )
      assert.strictEqual((yield* ask(brief.key, "PATCH", `/v1/keys/${brief.id}`, { expires_at: null })).status, 403)
      assert.strictEqual((yield* ask(brief.key, "POST", `/v1/keys/${all.id}/rotate`)).status, 403)
      assert.strictEqual((yield* ask(all.key, "PATCH", `/v1/keys/${brief.id}`, { expires_at: null })).status, 200)
    })
  )

  it.effect("refuse what is no key", () =>
    Effect.gen(function* () {
      const { ask, make } = yield* workspace
      const { key } = yield* make()
      const bodies = [
        { scopes: [] },
        { scopes: ["fly"] },
        { scopes: ["read", "read"] },
        { label: "x".repeat(101) },
        { expires_at: "soon" },
        { expires_at: inDays(-1) },
        { secret: "mine" }
      ]
      for (const body of bodies) {
        const { status } = yield* ask(key, "POST", "/v1/keys", body)
        assert.strictEqual(status, 422, JSON.stringify(body))
      }
    })
  )
})
