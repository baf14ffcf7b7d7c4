#!/usr/bin/env node
// The operator's command: keys, credit, prices, numbers, the telephone. Works beside a running service and without one.
// Exits with 1 and one line when something is wrong; a command that cannot be read is answered by its help.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Billing } from "@parley/workspace/billing/Billing"
import { Prices } from "@parley/workspace/billing/Prices"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import * as LocalInventory from "@parley/workspace/phone/LocalInventory"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { SipTraces } from "@parley/workspace/phone/SipTraces"
import { Sessions } from "@parley/workspace/sessions/Sessions"
import { DataFolder, layerBeside } from "@parley/workspace/storage/Database"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Cause, Effect, Exit, Layer, Logger, Result } from "effect"
import { CliError, Command } from "effect/cli"
import { credit } from "./command/credit.ts"
import { keys } from "./command/keys.ts"
import { numbers } from "./command/numbers.ts"
import { prices } from "./command/prices.ts"
import { settings } from "./command/settings.ts"
import { sip } from "./command/sip.ts"
import { readConfig } from "./Config.ts"
import { platformLayer } from "./Engines.ts"
import { Settings } from "./Settings.ts"
import { version } from "./version.ts"

const configured = Layer.effect(
  Settings,
  Effect.suspend(() => {
    const config = readConfig(process.env)
    return Result.isFailure(config)
      ? Effect.fail(new StartFault({ message: config.failure }))
      : Effect.succeed(config.success)
  })
)

const storage = Layer.unwrap(
  Effect.map(Settings, (config) =>
    Layer.mergeAll(ApiKeys.layer, Billing.layer, Prices.layer).pipe(
      Layer.provideMerge(Workspaces.layer),
      Layer.provideMerge(Layer.mergeAll(layerBeside(config), platformLayer, DataFolder.beside(config)))
    )
  )
).pipe(Layer.provideMerge(configured))

/** What needs the key that seals secrets: whoever only makes API keys need not have it. */
const telephone = Layer.unwrap(
  Effect.map(Settings, ({ formerSecretKeys, secretKey }) =>
    Layer.mergeAll(PhoneLines.layer, SipTraces.layer).pipe(
      Layer.provideMerge(LocalInventory.LocalInventory.layer),
      Layer.provide(Layer.mergeAll(LocalInventory.layer, Sessions.layer)),
      Layer.provideMerge(Secrets.layer(secretKey, formerSecretKeys))
    )
  )
).pipe(Layer.provideMerge(storage))

const parley = Command.make("parley").pipe(
  Command.withDescription("Keys, money, numbers and the telephone of a Parley service, running or not"),
  Command.withSubcommands([
    Command.provide(keys, storage),
    Command.provide(credit, storage),
    Command.provide(prices, storage),
    Command.provide(numbers, telephone),
    Command.provide(sip, telephone),
    settings
  ])
)

NodeRuntime.runMain(
  Command.run(parley, { version }).pipe(Effect.provide(NodeServices.layer), Effect.provide(Logger.layer([]))),
  {
    disableErrorReporting: true,
    teardown: (exit, end) => {
      if (Exit.isSuccess(exit)) return end(0)
      const error = Cause.squash(exit.cause)
      // Its help was shown, and what is wrong beside it.
      if (CliError.isCliError(error)) return end(1)
      process.stderr.write(`${error instanceof StartFault ? error.message : Cause.pretty(exit.cause)}\n`)
      end(1)
    }
  }
)
