import { Effect, Layer } from "effect"
import * as LocalInventory from "../../src/phone/LocalInventory.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { inventoryCases } from "../cases/inventoryCases.ts"

const trunk = {
  inbound: null,
  allowedAddresses: ["203.0.113.7"],
  uri: "sip.operator.example",
  transport: "auto",
  termination: null,
  headers: {}
} as const

const numbers = [
  { phone_number: "+14155550177", country_code: "US", locality: "San Francisco" },
  { phone_number: "+14165550178", country_code: "CA", locality: "Toronto" }
] as const

const filled = Layer.effectDiscard(
  Effect.gen(function* () {
    const { put } = yield* LocalInventory.LocalInventory
    for (const { country_code, locality, phone_number } of numbers) {
      yield* put({
        phoneNumber: phone_number,
        friendlyName: phone_number,
        locality,
        region: "",
        countryCode: country_code,
        trunk,
        originalCaller: false
      })
    }
  })
).pipe(Layer.provide(LocalInventory.LocalInventory.layer))

inventoryCases(
  "that the operator fills",
  LocalInventory.layer.pipe(Layer.provideMerge(filled), Layer.provide(TestDatabase.layer)),
  { numbers: [numbers[0], numbers[1]], unknown: "+14155550199" }
)
