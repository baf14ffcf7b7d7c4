// The wallet of the operator's own workspace and of a customer's, on a service where no balance is set.
import { assert, layer } from "@effect/vitest"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Billing } from "@parley/workspace/billing/Billing"
import { firstWorkspace, Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Redacted } from "effect"
import type { AddressInfo } from "node:net"
import { HttpListener } from "../../src/http/HttpListener.ts"
import { serviceWith } from "../../src/testing/TestService.ts"

const wallet = Effect.fnUntraced(function* (name: string, path: string) {
  const { server } = yield* HttpListener
  const key = Redacted.value((yield* (yield* ApiKeys).create(name)).key)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wallet/self/${path}`
  return yield* Effect.promise(
    async () => (await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).json()) as object
  )
})

layer(serviceWith(), { excludeTestServices: true })("wallets", (it) => {
  it.effect("deduct nothing from the operator's own, show what it used, and deduct from a customer's", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const workspaces = yield* Workspaces
      for (const name of [firstWorkspace, "customer"]) {
        yield* billing.charge(yield* workspaces.ensure(name), { kind: "agent", seconds: 6_000 })
      }
      const credit = "api-credit?check_free_credit=true"
      assert.deepInclude(yield* wallet(firstWorkspace, credit), { credit: "5", has_free_credit: true })
      const whole = { type: "unlimited", total: 5, balance: 5, has_used_trial: false }
      assert.deepInclude(yield* wallet(firstWorkspace, "package"), whole)
      assert.deepInclude(yield* wallet(firstWorkspace, "usage-by-day"), { cost: "6" })
      assert.deepInclude(yield* wallet("customer", credit), { credit: "-1", has_free_credit: false })
      assert.deepInclude(yield* wallet("customer", "package"), { type: "trial", balance: 0, has_used_trial: true })
    })
  )
})
