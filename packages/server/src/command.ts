#!/usr/bin/env node
// The operator's command: keys, credit, prices. Works beside a running service and without one.
import { ApiKeys } from "@parley/workspace/ApiKeys"
import { Ledger } from "@parley/workspace/Ledger"
import { Prices } from "@parley/workspace/Prices"
import { layerBeside } from "@parley/workspace/storage/Database"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { firstWorkspace, Workspaces } from "@parley/workspace/Workspaces"
import { Cause, Effect, Exit, Layer, Logger, Result } from "effect"
import { parseArgs } from "node:util"
import { runCredit } from "./command/credit.ts"
import { runKeys } from "./command/keys.ts"
import { runPrices } from "./command/prices.ts"
import { usage } from "./command/usage.ts"
import { type Config, readConfig } from "./Config.ts"
import { platformLayer } from "./Engines.ts"
import { Settings } from "./Settings.ts"

const run = Effect.fnUntraced(function* (words: ReadonlyArray<string>, workspace: string) {
  const [noun, ...rest] = words
  switch (noun) {
    case "keys":
      return yield* runKeys(rest, workspace)
    case "credit":
      return yield* runCredit(rest, workspace)
    case "prices":
      return yield* runPrices(rest)
    default:
      return yield* usage
  }
})

const storage = (config: Config) =>
  Layer.mergeAll(ApiKeys.layer, Ledger.layer, Prices.layer).pipe(
    Layer.provideMerge(Workspaces.layer),
    Layer.provide(Layer.mergeAll(layerBeside(config), platformLayer)),
    Layer.provide(Layer.succeed(Settings, config))
  )

const main = Effect.gen(function* () {
  const args = yield* Effect.try({
    try: () => parseArgs({ allowPositionals: true, options: { workspace: { type: "string" } } }),
    catch: () => usage
  })
  const config = readConfig(process.env)
  if (Result.isFailure(config)) return yield* new StartFault({ message: config.failure })
  const text = yield* run(args.positionals, args.values.workspace ?? firstWorkspace).pipe(
    Effect.provide(storage(config.success))
  )
  process.stdout.write(`${text}\n`)
}).pipe(Effect.provide(Logger.layer([])))

const exit = await Effect.runPromiseExit(main)
if (Exit.isFailure(exit)) {
  const error = Cause.squash(exit.cause)
  process.stderr.write(`${error instanceof StartFault ? error.message : Cause.pretty(exit.cause)}\n`)
  process.exitCode = 1
}
