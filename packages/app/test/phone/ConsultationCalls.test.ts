// Calls a call places for itself: as whom, over which trunk, and to where not.
import { assert, layer } from "@effect/vitest"
import { defaultPlan } from "@parley/engine/CallPlan"
import { LocalInventory } from "@parley/workspace/phone/LocalInventory"
import { Effect, Fiber } from "effect"
import { ConsultationCalls } from "../../src/phone/ConsultationCalls.ts"
import { customer, eventually, telephone } from "../calls/telephone.ts"

const { server, service } = telephone({ PARLEY_SIP_PORT: "0" })

const planOf = (number: string, callerNumber?: string) => ({
  ...defaultPlan("session_1", ""),
  phone: { number, callerNumber, referHeaders: {}, transfers: [], keypad: true }
})

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("A colleague", (it) => {
  it.effect("is called over the number's trunk, as the number or as the caller, and hung up with the scope", () =>
    Effect.gen(function* () {
      const { dial, mayRefer } = yield* ConsultationCalls
      const { ask, number } = yield* customer
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
      const called = Effect.fnUntraced(function* (plan: ReturnType<typeof planOf>, target: string) {
        const before = server.dials.length
        const fiber = yield* Effect.forkChild(Effect.scoped(dial(plan, target, 30, "consultation")))
        yield* eventually(
          Effect.sync(() => server.dials.length),
          (count) => count > before,
          "it is dialled"
        )
        const placed = server.dials[before]
        placed?.resolve("answered")
        yield* Fiber.join(fiber)
        assert.strictEqual(placed?.leg.closed(), "agent_hangup")
        return placed?.request
      })
      const colleague = "+14155550188"
      assert.deepInclude(yield* called(planOf(imported.number, "+14155550123"), colleague), {
        from: imported.number,
        to: colleague,
        ringSeconds: 30,
        headers: { "X-Account": "7", "X-Vendor-Session-Id": "session_1" }
      })
      assert.strictEqual((yield* called(planOf(bought, "+14155550123"), colleague))?.from, bought)
      yield* ask("PATCH", `/v1/agent/phone-numbers/${String(body["phone_number_id"])}`, {
        cold_transfer_use_original_caller: true
      })
      assert.strictEqual((yield* called(planOf(bought, "+14155550123"), colleague))?.from, "+14155550123")
      assert.strictEqual((yield* called(planOf(bought), colleague))?.from, bought)

      const before = server.dials.length
      const refusals = [
        // Bought numbers call within the list of countries, no premium numbers and no URI.
        dial(planOf(bought), "+442079460123", 30, "refer_declined"),
        dial(planOf(bought), "+19005550123", 30, "refer_declined"),
        dial(planOf(bought), "sip:colleague@example.com", 30, "refer_declined"),
        // No number calls the platform.
        dial(planOf(imported.number), bought, 30, "refer_declined"),
        // Nobody's number.
        dial(planOf("+14155550199"), colleague, 30, "refer_declined")
      ]
      const reasons = yield* Effect.forEach(refusals, (one) => Effect.flip(Effect.scoped(one)))
      assert.deepStrictEqual(
        reasons.map(({ reason }) => reason),
        ["not_allowed", "not_allowed", "not_allowed", "not_allowed", "failed"]
      )
      assert.strictEqual(server.dials.length, before)

      // The carrier is not asked either to call where we must not.
      const asked = [
        mayRefer(planOf(bought), colleague),
        mayRefer(planOf(bought), "+442079460123"),
        mayRefer(planOf(bought), "+19005550123"),
        mayRefer(planOf(imported.number), "sip:colleague@example.com"),
        mayRefer(planOf(imported.number), bought),
        mayRefer(planOf("+14155550199"), colleague)
      ]
      assert.deepStrictEqual(yield* Effect.all(asked), [true, false, false, true, false, false])
    })
  )
})
