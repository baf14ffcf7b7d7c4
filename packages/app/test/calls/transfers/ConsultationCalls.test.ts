// Calls a call places for itself: as whom, over which trunk, and to where not.
import { assert, layer } from "@effect/vitest"
import { defaultPlan } from "@parley/engine/CallPlan"
import { LocalInventory } from "@parley/workspace/phone/LocalInventory"
import { Billing } from "@parley/workspace/billing/Billing"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { PhoneCalls } from "@parley/workspace/phone/PhoneCalls"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { SessionLife } from "@parley/workspace/sessions/SessionLife"
import { Versions } from "@parley/workspace/agents/Versions"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Calls } from "../../../src/calls/Calls.ts"
import { ConsultationCalls } from "../../../src/calls/transfers/ConsultationCalls.ts"
import { customer, eventually, telephone } from "../telephone.ts"

const { server, service } = telephone({ PARLEY_SIP_PORT: "0", PARLEY_MAX_CALLS: "2" })

/** A customer whose calls can be made: each with its session, up. */
const holder = Effect.gen(function* () {
  const one = yield* customer
  const workspaceId = yield* (yield* Workspaces).ensure(one.workspace)
  const runnable = yield* (yield* Versions).live(workspaceId, yield* one.agent())
  const phoneCalls = yield* PhoneCalls
  const life = yield* SessionLife
  const planOf = Effect.fnUntraced(function* (number: string, callerNumber?: string) {
    const row = yield* phoneCalls.ring({
      workspaceId,
      runnable,
      direction: "inbound",
      callerNumber: callerNumber ?? "",
      dialedNumber: number,
      sipCallId: "",
      name: "",
      timezone: "UTC",
      endUserId: "",
      metadata: {},
      input: { overrides: {}, dynamicVariables: {}, worldContext: true, toolEvents: true, recordAudio: false },
      maxDurationSeconds: 60
    })
    yield* life.answered(row.id, { sipCallId: "" })
    return {
      ...defaultPlan(row.id, ""),
      phone: { number, callerNumber, referHeaders: {}, transfers: [], keypad: true }
    }
  })
  return { ...one, workspaceId, planOf }
})

const colleague = "+14155550188"

/** What a colleague is called as, and who answers: stays up until the scope closes. */
const taken = Effect.fnUntraced(function* (plan: ReturnType<typeof defaultPlan>, target: string) {
  const { dial } = yield* ConsultationCalls
  const before = server.dials.length
  const fiber = yield* Effect.forkChild(dial(plan, target, 30, "consultation"))
  yield* eventually(
    Effect.sync(() => server.dials.length),
    (count) => count > before,
    "it is dialled"
  )
  const placed = server.dials[before]
  placed?.resolve("answered")
  yield* Fiber.join(fiber)
  return placed
})

const refusalOf = Effect.fnUntraced(function* (plan: ReturnType<typeof defaultPlan>, target: string) {
  const { dial } = yield* ConsultationCalls
  return (yield* Effect.flip(Effect.scoped(dial(plan, target, 30, "refer_declined")))).reason
})

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("A colleague", (it) => {
  it.effect("is called over the number's trunk, as the number or as the caller, and hung up with the scope", () =>
    Effect.gen(function* () {
      const { referRefusal } = yield* ConsultationCalls
      const { ask, number, planOf } = yield* holder
      const stock = yield* Effect.provide(LocalInventory, LocalInventory.layer)
      const imported = yield* number({ termination_headers: { "X-Account": "7" } })
      const bought = "+14155550177"
      yield* stock.put({
        phoneNumber: bought,
        friendlyName: "",
        locality: "",
        region: "",
        countryCode: "US",
        trunk: {
          inbound: null,
          allowedAddresses: ["203.0.113.7"],
          uri: "sip.operator.example",
          transport: "auto",
          termination: null,
          headers: {}
        },
        originalCaller: true
      })
      const { body } = yield* ask("POST", "/v1/agent/phone-numbers", { provider: "carrier", phone_number: bought })
      const called = Effect.fnUntraced(function* (plan: ReturnType<typeof defaultPlan>, target: string) {
        const placed = yield* Effect.scoped(taken(plan, target))
        assert.strictEqual(placed?.leg.closed(), "agent_hangup")
        return placed?.request
      })
      const held = yield* planOf(imported.number, "+14155550123")
      assert.deepInclude(yield* called(held, colleague), {
        from: imported.number,
        to: colleague,
        ringSeconds: 30,
        headers: { "X-Account": "7", "X-Vendor-Session-Id": held.sessionId }
      })
      assert.strictEqual((yield* called(yield* planOf(bought, "+14155550123"), colleague))?.from, bought)
      yield* ask("PATCH", `/v1/agent/phone-numbers/${String(body["phone_number_id"])}`, {
        cold_transfer_use_original_caller: true
      })
      assert.strictEqual((yield* called(yield* planOf(bought, "+14155550123"), colleague))?.from, "+14155550123")
      assert.strictEqual((yield* called(yield* planOf(bought), colleague))?.from, bought)

      const before = server.dials.length
      const [bySold, byImported, byNobody] = [
        yield* planOf(bought),
        yield* planOf(imported.number),
        yield* planOf("+14155550199")
      ]
      const cases = [
        // Bought numbers call within the list of countries, no premium numbers and no URI.
        [bySold, "+442079460123", "not_allowed"],
        [bySold, "+19005550123", "not_allowed"],
        [bySold, "sip:colleague@example.com", "not_allowed"],
        // No number calls what was bought here, or the workspace's own.
        [byImported, bought, "not_allowed"],
        [bySold, imported.number, "not_allowed"]
      ] as const
      // The carrier is not asked either to call where we must not.
      for (const [plan, target, reason] of cases) {
        assert.strictEqual(yield* refusalOf(plan, target), reason)
        assert.strictEqual(yield* referRefusal(plan, target), reason)
      }
      // Nobody's number.
      assert.strictEqual(yield* refusalOf(byNobody, colleague), "failed")
      assert.strictEqual(yield* referRefusal(byNobody, colleague), "not_allowed")
      assert.strictEqual(server.dials.length, before)
      assert.isUndefined(yield* referRefusal(bySold, colleague))
      assert.isUndefined(yield* referRefusal(byImported, "sip:colleague@example.com"))
    })
  )

  it.effect("is called by neither way where the workspace may not place calls, or has no money left", () =>
    Effect.gen(function* () {
      const { referRefusal } = yield* ConsultationCalls
      const { number, planOf, workspaceId } = yield* holder
      const plan = yield* planOf((yield* number()).number)
      const { allowDialling } = yield* PhoneLines
      const before = server.dials.length
      yield* allowDialling(workspaceId, false)
      assert.strictEqual(yield* refusalOf(plan, colleague), "dialling_off")
      assert.strictEqual(yield* referRefusal(plan, colleague), "dialling_off")
      yield* allowDialling(workspaceId, true)
      const billing = yield* Billing
      yield* billing.credit(workspaceId, -(yield* billing.account(workspaceId)).balance, "test")
      assert.strictEqual(yield* refusalOf(plan, colleague), "no_credit")
      assert.strictEqual(yield* referRefusal(plan, colleague), "no_credit")
      assert.strictEqual(server.dials.length, before)
    })
  )

  it.effect("takes a place like any call, until it is over", () =>
    Effect.gen(function* () {
      const calls = yield* Calls
      const { number, planOf } = yield* holder
      const plan = yield* planOf((yield* number()).number)
      yield* Effect.scoped(
        Effect.gen(function* () {
          // With the other workspaces of the tests every place may be this one's only together with theirs.
          yield* taken(plan, colleague)
          assert.strictEqual(calls.taken(), 1)
          yield* taken(plan, colleague)
          assert.strictEqual(yield* refusalOf(plan, colleague), "no_place")
          assert.strictEqual(calls.taken(), 2)
        })
      )
      assert.strictEqual(calls.taken(), 0)
    })
  )

  it.effect("counts among the workspace's calls of the day, by a REFER too", () =>
    Effect.gen(function* () {
      const { referRefusal } = yield* ConsultationCalls
      const { number, planOf, workspaceId } = yield* holder
      const plan = yield* planOf((yield* number()).number)
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO second_legs (workspace_id, session_id, way, ended_at)
        SELECT ${workspaceId}, ${plan.sessionId}, 'refer', now() FROM generate_series(1, 198)`
      assert.isUndefined(yield* referRefusal(plan, colleague))
      yield* Effect.scoped(taken(plan, colleague))
      assert.strictEqual(yield* refusalOf(plan, colleague), "limit_reached")
      assert.strictEqual(yield* referRefusal(plan, colleague), "limit_reached")
    })
  )

  it.effect(
    "is charged by the second like a telephone call when the session ends, once, and only if somebody took it",
    () =>
      Effect.gen(function* () {
        const { ask, number, planOf } = yield* holder
        const plan = yield* planOf((yield* number()).number)
        const sql = yield* SqlClient.SqlClient
        yield* Effect.scoped(taken(plan, colleague))
        yield* sql`UPDATE second_legs SET answered_at = ended_at - interval '41 seconds' WHERE session_id = ${plan.sessionId}`
        const { dial } = yield* ConsultationCalls
        const before = server.dials.length
        const unanswered = yield* Effect.forkChild(
          Effect.flip(Effect.scoped(dial(plan, colleague, 30, "consultation")))
        )
        yield* eventually(
          Effect.sync(() => server.dials.length),
          (count) => count > before,
          "it is dialled"
        )
        server.dials[before]?.resolve("busy")
        assert.strictEqual((yield* Fiber.join(unanswered)).reason, "busy")
        const life = yield* SessionLife
        yield* life.settle(plan.sessionId, "user_hangup", "active")
        yield* life.settle(plan.sessionId, "user_hangup", "active")
        const { body } = yield* ask("GET", "/wallet/self/usage")
        const usage = body["usage"] as ReadonlyArray<{ kind: string; quantity: number }>
        const seconds = usage.flatMap(({ kind, quantity }) => (kind === "phone" ? [Number(quantity)] : []))
        assert.include(seconds, 41)
        assert.lengthOf(seconds, 2)
      })
  )
})
