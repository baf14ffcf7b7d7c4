// Transfer destinations that none of an agent's numbers could call are refused where they are saved, with the countries.
import { assert, layer } from "@effect/vitest"
import { LocalInventory } from "@parley/workspace/phone/LocalInventory"
import { Effect } from "effect"
import { customer, telephone } from "../telephone.ts"

const { service } = telephone({ PARLEY_SIP_PORT: "0", PARLEY_CALL_COUNTRIES: "US,CA" })

const abroad = { label: "A", phone_number: "+442079460123" }
const premium = { label: "B", phone_number: "+19005550123" }
const home = { label: "C", phone_number: "+14155550188" }
const uri = { label: "D", type: "sip", sip_uri: "sip:sales@pbx.example" }

const buyable = Effect.fnUntraced(function* (phoneNumber: string) {
  const stock = yield* Effect.provide(LocalInventory, LocalInventory.layer)
  yield* stock.put({
    phoneNumber,
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
    originalCaller: false
  })
  return phoneNumber
})

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("A transfer destination", (it) => {
  it.effect("is refused on an agent whose numbers are all bought, and not once one of them is imported", () =>
    Effect.gen(function* () {
      const { agent, ask, number } = yield* customer
      const agent_id = yield* agent()
      const save = (...transfer_destinations: ReadonlyArray<unknown>) =>
        ask("PATCH", `/v1/agent/agents/${agent_id}/config`, { conversation: { transfer_destinations } })
      const phone_number = yield* buyable("+14155557101")
      const bought = yield* ask("POST", "/v1/agent/phone-numbers", { provider: "carrier", phone_number, agent_id })
      assert.strictEqual(bought.status, 201)
      const refused = yield* save(home, abroad, premium, uri)
      assert.strictEqual(refused.status, 422)
      const text = JSON.stringify(refused.body)
      assert.include(text, '"transfer_destinations",1,"phone_number"')
      assert.include(text, "must be in one of US, CA")
      assert.include(text, '"transfer_destinations",2,"phone_number"')
      assert.include(text, '"transfer_destinations",3,"sip_uri"')
      assert.notInclude(text, '"transfer_destinations",0')
      assert.strictEqual((yield* save(home)).status, 200)
      yield* number({ agent_id })
      assert.strictEqual((yield* save(home, abroad, premium, uri)).status, 200)
    })
  )

  it.effect("keeps a bought number from being bound to its agent", () =>
    Effect.gen(function* () {
      const { agent, ask, number } = yield* customer
      const agent_id = yield* agent({ conversation: { transfer_destinations: [home, abroad] } })
      const phone_number = yield* buyable("+14155557102")
      const refused = yield* ask("POST", "/v1/agent/phone-numbers", { provider: "carrier", phone_number, agent_id })
      assert.strictEqual(refused.status, 422)
      assert.include(JSON.stringify(refused.body), "transfer destination 2 cannot be called")
      assert.include(JSON.stringify(refused.body), "US, CA")
      const bought = yield* ask("POST", "/v1/agent/phone-numbers", { provider: "carrier", phone_number })
      const path = `/v1/agent/phone-numbers/${String(bought.body["phone_number_id"])}`
      assert.strictEqual((yield* ask("PATCH", path, { agent_id })).status, 422)
      // Its imported number can call it.
      yield* number({ agent_id })
      assert.strictEqual((yield* ask("PATCH", path, { agent_id })).status, 200)
    })
  )
})
