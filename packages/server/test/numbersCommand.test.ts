import { assert, layer } from "@effect/vitest"
import { Inventory } from "@parley/workspace/phone/Inventory"
import * as LocalInventory from "@parley/workspace/phone/LocalInventory"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { secretOwner } from "@parley/workspace/storage/SecretOwner"
import { Secrets } from "@parley/workspace/storage/Secrets"
import * as TestDatabase from "@parley/workspace/testing/TestDatabase"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Layer, Redacted } from "effect"
import { CliError } from "effect/cli"
import { numbers } from "../src/command/numbers.ts"
import { Settings } from "../src/Settings.ts"
import { commandOutput } from "../src/testing/commandOutput.ts"
import { testConfig } from "../src/testing/testConfig.ts"

const live = Layer.mergeAll(LocalInventory.LocalInventory.layer, PhoneLines.layer).pipe(
  Layer.provideMerge(LocalInventory.layer),
  Layer.provideMerge(Layer.mergeAll(Workspaces.layer, Secrets.layer(undefined))),
  Layer.provideMerge(Layer.mergeAll(TestDatabase.layer, Layer.succeed(Settings, testConfig("unused"))))
)

const run = (words: string, options: Readonly<Record<string, string>> = {}) =>
  commandOutput(numbers, [
    ...words.split(" "),
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  ])

layer(live, { excludeTestServices: true })("parley numbers", (it) => {
  it.effect("fills the inventory, changes a trunk, and takes back what is not sold", () =>
    Effect.gen(function* () {
      const inventory = yield* Inventory
      const secrets = yield* Secrets
      const number = "+14155550142"
      const trunk = {
        trunk: "sip.carrier.example:5070",
        allow: "203.0.113.7, 198.51.100.0/24",
        place: "San Francisco, CA"
      }
      assert.strictEqual(yield* run(`add ${number}`, trunk), `${number}  for sale, unless it is sold`)
      assert.deepStrictEqual(yield* inventory.available({}), [
        {
          phone_number: number,
          friendly_name: "(415) 555-0142",
          locality: "San Francisco",
          region: "CA",
          country_code: "US",
          number_type: "local"
        }
      ])
      assert.deepStrictEqual(yield* inventory.available({ country_code: "CA" }), [])
      assert.deepStrictEqual(yield* inventory.available({ area_code: "212" }), [])
      yield* inventory.buy(number)
      assert.strictEqual(yield* run("list"), `${number}  sold  sip.carrier.example:5070  San Francisco, CA`)
      const changed = { trunk: "h", transport: "tls", auth: "out:a:b", "inbound-auth": "in:c" }
      yield* run(`add ${number}`, changed)
      const now = yield* inventory.trunkOf(number)
      assert.deepInclude(now, { uri: "h", transport: "tls", allowedAddresses: [] })
      assert.strictEqual(
        Redacted.value(secrets.of(secretOwner.stockedNumber(number)).open(now?.termination?.password ?? "")),
        "a:b"
      )
      assert.notInclude(JSON.stringify(now), "a:b")
      assert.match((yield* Effect.flip(run(`remove ${number}`))).message, /there is no number/)
      yield* inventory.release(number)
      assert.strictEqual(yield* run(`remove ${number}`), `removed ${number}`)
      assert.strictEqual(yield* run("list"), "")
    })
  )

  it.effect("says what is wrong", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<readonly [words: string, options: Readonly<Record<string, string>>, message: RegExp]> =
        [
          ["add 4155550142", {}, /^NUMBER must/],
          ["add +14155550142", {}, /^--allow or --inbound-auth is needed/],
          ["add +14155550142", { allow: "nowhere" }, /^--allow must/],
          ["add +14155550142", { allow: "203.0.113.7", trunk: "sip:h" }, /^--trunk must/],
          ["add +14155550142", { allow: "203.0.113.7", transport: "sctp" }, /^--transport must/],
          ["add +14155550142", { "inbound-auth": "in" }, /inbound_auth_password: is needed/],
          ["remove +14155550142", {}, /there is no number/],
          ["dialling on", {}, /there is no workspace/]
        ]
      for (const [words, options, message] of wrong) {
        assert.match(String((yield* Effect.flip(run(words, options))).message), message)
      }
      for (const words of ["list all", "add", "dialling", "buy +14155550142"]) {
        const error = yield* Effect.flip(run(words))
        assert.isTrue(CliError.isCliError(error) && error._tag === "ShowHelp", words)
      }
    })
  )

  it.effect("says who may place calls", () =>
    Effect.gen(function* () {
      const id = yield* (yield* Workspaces).ensure("default")
      const lines = yield* PhoneLines
      assert.isTrue(yield* lines.mayDial(id))
      assert.strictEqual(yield* run("dialling off"), "default  may not place calls")
      assert.isFalse(yield* lines.mayDial(id))
      assert.strictEqual(yield* run("dialling on"), "default  may place calls")
      assert.isTrue(yield* lines.mayDial(id))
    })
  )
})
