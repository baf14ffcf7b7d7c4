import { assert, layer } from "@effect/vitest"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Billing } from "@parley/workspace/billing/Billing"
import { Prices } from "@parley/workspace/billing/Prices"
import * as TestDatabase from "@parley/workspace/testing/TestDatabase"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Layer } from "effect"
import { CliError } from "effect/cli"
import { credit } from "../src/command/credit.ts"
import { keys } from "../src/command/keys.ts"
import { prices } from "../src/command/prices.ts"
import { platformLayer } from "../src/Engines.ts"
import { Settings } from "../src/Settings.ts"
import { commandOutput } from "../src/testing/commandOutput.ts"
import { testConfig } from "../src/testing/testConfig.ts"

const live = Layer.mergeAll(ApiKeys.layer, Billing.layer, Prices.layer).pipe(
  Layer.provideMerge(Workspaces.layer),
  Layer.provide(Layer.mergeAll(TestDatabase.layer, platformLayer)),
  Layer.provide(Layer.succeed(Settings, testConfig("unused", { PARLEY_TRIAL_BALANCE: "2.5" })))
)

const runCredit = (...words: ReadonlyArray<string>) => commandOutput(credit, words)
const runPrices = (...words: ReadonlyArray<string>) => commandOutput(prices, words)
const runKeys = (...words: ReadonlyArray<string>) => commandOutput(keys, words)

layer(live, { excludeTestServices: true })("command", (it) => {
  it.effect("shows, tops up and widens an account", () =>
    Effect.gen(function* () {
      yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("default"))
      const said: ReadonlyArray<readonly [words: ReadonlyArray<string>, line: string]> = [
        [["show"], "default  balance 2.5  topped up 0  5 at the same time"],
        [["add", "100"], "default  balance 102.5  topped up 100  15 at the same time"],
        [["add", "--", "-0.5"], "default  balance 102  topped up 99.5  5 at the same time"],
        [["concurrency", "9"], "default  balance 102  topped up 99.5  9 at the same time"],
        [["concurrency", "tier"], "default  balance 102  topped up 99.5  5 at the same time"]
      ]
      for (const [words, line] of said) assert.strictEqual(yield* runCredit(...words), line)
    })
  )

  it.effect("lists and sets prices", () =>
    Effect.gen(function* () {
      assert.include(yield* runPrices("list"), "tts  15 per 1000000 bytes\ntts:s2.1-pro-free  0 per 1000000 bytes")
      assert.strictEqual(yield* runPrices("set", "asr", "0.72"), "asr  0.72 per 3600 seconds")
      assert.strictEqual(yield* runPrices("set", "tts:own", "3"), "tts:own  3 per 1000000 bytes")
    })
  )

  it.effect("makes keys with a label, an expiry and scopes, shows and changes them", () =>
    Effect.gen(function* () {
      const made = yield* runKeys("create", "--label", "shop", "--expires", "2100-01-31", "--scopes", "read,speak")
      const [id = "", key = ""] = made.split("  ")
      const lineOf = Effect.map(runKeys("list"), (text) => text.split("\n").find((line) => line.startsWith(id)) ?? "")
      const hint = `${key.slice(0, 7)}...${key.slice(-4)}`
      assert.strictEqual(
        yield* lineOf,
        `${id}  ${hint}  default  read,speak  expires 2100-01-31T00:00:00.000Z  used never  shop`
      )
      yield* runKeys("set", id, "--expires", "never", "--scopes", "call")
      assert.strictEqual(yield* lineOf, `${id}  ${hint}  default  call  expires never  used never  shop`)
      yield* runKeys("set", id, "--label", "till")
      assert.include(yield* lineOf, "  call  expires never  used never  till")
      const [plain = ""] = (yield* runKeys("create")).split("  ")
      assert.include(yield* runKeys("list"), plain)
      const refused = [
        [runKeys("set", id), "say what to change"],
        [runKeys("set", "key_none", "--label", "x"), "there is no key key_none"],
        [runKeys("create", "--scopes", "read,fly"), "--scopes must be"],
        [runKeys("create", "--scopes", "read,read"), "--scopes must be"],
        [runKeys("create", "--expires", "2020-01-01"), "--expires must be"],
        [runKeys("create", "--expires", "soon"), "--expires must be"],
        [runKeys("create", "--label", "x".repeat(101)), "--label must"]
      ] as const
      for (const [attempt, line] of refused) {
        const { message } = yield* Effect.flip<unknown, { message: string }, ApiKeys | Billing | Prices | Workspaces>(
          attempt
        )
        assert.include(message, line)
      }
    })
  )

  it.effect("shows its help when a command cannot be read", () =>
    Effect.gen(function* () {
      yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("default"))
      const wrong = [
        runCredit(),
        runCredit("add"),
        runCredit("show", "5"),
        runCredit("spend", "5"),
        runPrices(),
        runPrices("list", "asr"),
        runPrices("set", "asr"),
        runPrices("set", "asr", "1", "2"),
        runKeys("create", "x"),
        runKeys("revoke")
      ]
      for (const attempt of wrong) {
        const error = yield* Effect.flip<unknown, unknown, ApiKeys | Billing | Prices | Workspaces>(attempt)
        assert.isTrue(CliError.isCliError(error) && error._tag === "ShowHelp")
      }
      const refused = [
        [runCredit("add", "many"), "AMOUNT"],
        [runCredit("add", "10000000000"), "AMOUNT"],
        [runCredit("concurrency", "0"), "N must"],
        [runCredit("show", "--workspace", "nobody"), "there is no workspace nobody"],
        [runPrices("set", "asr", "-1"), "AMOUNT"],
        [runPrices("set", "tea", "1"), "there is no price tea"]
      ] as const
      for (const [attempt, line] of refused) {
        const { message } = yield* Effect.flip<unknown, { message: string }, ApiKeys | Billing | Prices | Workspaces>(
          attempt
        )
        assert.include(message, line)
      }
    })
  )
})
