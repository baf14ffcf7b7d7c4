import { assert, layer } from "@effect/vitest"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { firstWorkspace } from "@parley/workspace/identity/Workspaces"
import { Effect, Redacted } from "effect"
import type { AddressInfo } from "node:net"
import { HttpListener } from "../../src/http/HttpListener.ts"
import { serviceWith } from "../../src/testing/TestService.ts"

const ask = (path: string, headers: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const { server } = yield* HttpListener
    const { port } = server.address() as AddressInfo
    return yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}${path}`, { headers }))
  })

layer(serviceWith(), { excludeTestServices: true, timeout: "60 seconds" })("Pages of the operator", (it) => {
  it.effect("/metrics is for this machine, and for keys of the operator's workspace", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const bearer = (workspace: string) =>
        Effect.map(keys.create(workspace), ({ key }) => ({ authorization: `Bearer ${Redacted.value(key)}` }))
      const outside = { "x-forwarded-for": "203.0.113.7" }
      assert.strictEqual((yield* ask("/metrics")).status, 200)
      assert.strictEqual((yield* ask("/metrics", outside)).status, 401)
      assert.strictEqual((yield* ask("/metrics", { ...outside, authorization: "Bearer wrong" })).status, 401)
      assert.strictEqual((yield* ask("/metrics", { ...outside, ...(yield* bearer("tenant")) })).status, 401)
      assert.strictEqual((yield* ask("/metrics", { ...outside, ...(yield* bearer(firstWorkspace)) })).status, 200)
    })
  )

  it.effect("/docs runs its own scripts alone", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/docs")
      const policy = answer.headers.get("content-security-policy") ?? ""
      assert.match(policy, /script-src 'sha256-\S+' 'sha256-\S+';/)
      assert.match(policy, /connect-src 'self';/)
      assert.include(yield* Effect.promise(() => answer.text()), '"telemetry":false')
    })
  )
})
