import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { AddressInfo } from "node:net"
import { JoinTokens } from "@parley/app/calls/inbound/JoinTokens"
import { HttpListener } from "../../src/http/HttpListener.ts"
import { serviceWith } from "../../src/testing/TestService.ts"

const service = serviceWith()

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("A service that stops", (it) => {
  it.effect("refuses tokens by their age, and says in /health that it drains while it still answers", () =>
    Effect.gen(function* () {
      const { drain, server } = yield* HttpListener
      const { mint } = yield* JoinTokens
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const token = (lifeSeconds: number) =>
        mint({
          sessionId: "session_x",
          identity: "user_x",
          expiresAt: Math.floor(Date.now() / 1000) + lifeSeconds
        })
      const validate = (token: string) =>
        Effect.promise(async () => {
          const answer = await fetch(`${base}/rtc/v1/validate?access_token=${token}`)
          return [answer.status, await answer.text()]
        })
      const status = Effect.promise(async () => {
        const health = (await (await fetch(`${base}/health`)).json()) as { readonly status: string }
        return health.status
      })
      assert.notStrictEqual(yield* status, "draining")
      assert.deepStrictEqual(yield* validate(yield* token(-1)), [401, "the token has expired"])
      assert.strictEqual((yield* validate(yield* token(60)))[0], 401)
      yield* drain
      assert.strictEqual(yield* status, "draining")
      assert.deepStrictEqual(yield* validate(yield* token(60)), [503, "the service is stopping"])
    })
  )
})
