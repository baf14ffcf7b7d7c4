#!/usr/bin/env node
// The operator's command: keys, credit, prices, numbers, the telephone. Works beside a running service and without one.
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Billing } from "@parley/workspace/billing/Billing"
import * as LocalInventory from "@parley/workspace/phone/LocalInventory"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { SipTraces } from "@parley/workspace/phone/SipTraces"
import { Prices } from "@parley/workspace/billing/Prices"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { Sessions } from "@parley/workspace/sessions/Sessions"
import { DataFolder, layerBeside } from "@parley/workspace/storage/Database"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { firstWorkspace, Workspaces } from "@parley/workspace/identity/Workspaces"
import { Cause, Effect, Exit, Layer, Logger, Result } from "effect"
import { parseArgs } from "node:util"
import { runCredit } from "./command/credit.ts"
import { runKeys } from "./command/keys.ts"
import { type NumberOptions, numberOptions, runNumbers } from "./command/numbers.ts"
import { runPrices } from "./command/prices.ts"
import { runSip, type SipOptions } from "./command/sip.ts"
import { usage } from "./command/usage.ts"
import { type Config, readConfig } from "./Config.ts"
import { platformLayer } from "./Engines.ts"
import { Settings } from "./Settings.ts"

const run = Effect.fnUntraced(function* (
  words: ReadonlyArray<string>,
  options: SipOptions & NumberOptions,
  config: Config
) {
  const { workspace } = options
  const [noun, ...rest] = words
  switch (noun) {
    case "keys":
      return yield* runKeys(rest, workspace)
    case "credit":
      return yield* runCredit(rest, workspace)
    case "numbers":
      return yield* Effect.provide(runNumbers(rest, workspace, options), telephone(config))
    case "sip":
      return yield* Effect.provide(runSip(rest, options), telephone(config))
    case "prices":
      return yield* runPrices(rest)
    default:
      return yield* usage
  }
})

const storage = (config: Config) =>
  Layer.mergeAll(ApiKeys.layer, Billing.layer, Prices.layer).pipe(
    Layer.provideMerge(Workspaces.layer),
    Layer.provideMerge(Layer.mergeAll(layerBeside(config), platformLayer, DataFolder.beside(config))),
    Layer.provideMerge(Layer.succeed(Settings, config))
  )

/** What needs the key that seals secrets: whoever only makes API keys need not have it. */
const telephone = (config: Config) =>
  Layer.mergeAll(PhoneLines.layer, SipTraces.layer).pipe(
    Layer.provideMerge(LocalInventory.LocalInventory.layer),
    Layer.provide(Layer.mergeAll(LocalInventory.layer, Sessions.layer)),
    Layer.provideMerge(Secrets.layer(config.secretKey))
  )

const options = {
  workspace: { type: "string" },
  from: { type: "string" },
  number: { type: "string" },
  ...numberOptions
} as const

const main = Effect.gen(function* () {
  const args = yield* Effect.try({
    try: () => parseArgs({ allowPositionals: true, options }),
    catch: () => usage
  })
  const config = readConfig(process.env)
  if (Result.isFailure(config)) return yield* new StartFault({ message: config.failure })
  const { from = "anonymous", number, workspace = firstWorkspace, ...rest } = args.values
  const input = { ...rest, workspace, from, number }
  const text = yield* run(args.positionals, input, config.success).pipe(Effect.provide(storage(config.success)))
  process.stdout.write(`${text}\n`)
}).pipe(Effect.provide(Logger.layer([])))

const exit = await Effect.runPromiseExit(main)
if (Exit.isFailure(exit)) {
  const error = Cause.squash(exit.cause)
  process.stderr.write(`${error instanceof StartFault ? error.message : Cause.pretty(exit.cause)}\n`)
  process.exitCode = 1
}
