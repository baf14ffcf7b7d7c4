// What every adapter of the number inventory port promises.
import { assert, layer as withLayer } from "@effect/vitest"
import type { AvailableNumber } from "@parley/contract/PhoneNumber"
import { Effect, type Layer } from "effect"
import { Inventory, type InventoryFault } from "../../src/phone/Inventory.ts"

export interface InventoryStock {
  /** For sale: a number of the United States, then one of Canada. */
  readonly numbers: readonly [unitedStates: AvailableStock, canada: AvailableStock]
  /** A number nobody has for sale. */
  readonly unknown: string
}

type AvailableStock = Pick<AvailableNumber, "phone_number">

/** `stocked` is a new inventory for each suite; `stock` is what it holds. */
export const inventoryCases = (
  name: string,
  stocked: Layer.Layer<Inventory, unknown>,
  { numbers: [one, other], unknown }: InventoryStock
): void => {
  withLayer(stocked, { excludeTestServices: true })(`the inventory ${name}`, (it) => {
    it.effect("shows what is for sale, by country and by area", () =>
      Effect.gen(function* () {
        const inventory = yield* Inventory
        // The United States where no country is named.
        assert.include(numbersOf(yield* inventory.available({})), one.phone_number)
        assert.include(numbersOf(yield* inventory.available({ country_code: "CA" })), other.phone_number)
        const inCountry = yield* inventory.available({ country_code: "US" })
        assert.isTrue(inCountry.every(({ country_code }) => country_code === "US"))
        assert.include(numbersOf(inCountry), one.phone_number)
        assert.notInclude(numbersOf(inCountry), other.phone_number)
        const area = one.phone_number.slice(2, 5)
        const inArea = numbersOf(yield* inventory.available({ area_code: area }))
        assert.include(inArea, one.phone_number)
        assert.isTrue(inArea.every((number) => number.slice(2, 5) === area))
        assert.isAtMost((yield* inventory.available({})).length, 50)
      })
    )

    it.effect("sells a number once, shows it no more, and takes it back", () =>
      Effect.gen(function* () {
        const inventory = yield* Inventory
        const number = one.phone_number
        assert.isTrue(yield* inventory.isAvailable(number))
        const bought = yield* Effect.all(
          Array.from({ length: 8 }, () => Effect.result(inventory.buy(number))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(bought.filter(({ _tag }) => _tag === "Success").length, 1)
        assert.isFalse(yield* inventory.isAvailable(number))
        assert.notInclude(numbersOf(yield* inventory.available({})), number)
        assert.isDefined(yield* inventory.trunkOf(number))
        yield* inventory.release(number)
        assert.isTrue(yield* inventory.isAvailable(number))
      })
    )

    it.effect("says no to what it has not, in words without an address or a credential", () =>
      Effect.gen(function* () {
        const inventory = yield* Inventory
        assert.isFalse(yield* inventory.isAvailable(unknown))
        const message = yield* refusal(inventory.buy(unknown))
        assert.isNotEmpty(message)
        assert.notMatch(message, /@|password|secret|\d{1,3}(\.\d{1,3}){3}/i)
        assert.isUndefined(yield* inventory.trunkOf(unknown))
      })
    )
  })
}

const numbersOf = (all: ReadonlyArray<{ readonly phone_number: string }>) => all.map(({ phone_number }) => phone_number)
const refusal = (step: Effect.Effect<void, InventoryFault>) => Effect.map(Effect.flip(step), ({ message }) => message)
