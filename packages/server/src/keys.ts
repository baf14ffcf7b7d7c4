#!/usr/bin/env node
// `parley keys create [--workspace NAME] | list | revoke ID`: works beside a running service and without one.
import { ApiKeys } from "@parley/workspace/ApiKeys"
import { layerBeside } from "@parley/workspace/storage/Database"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { firstWorkspace, Workspaces } from "@parley/workspace/Workspaces"
import { Cause, Effect, Exit, Layer, Logger, Redacted, Result } from "effect"
import { parseArgs } from "node:util"
import { readConfig } from "./Config.ts"

const usage = `Usage:
  parley keys create [--workspace NAME]   make a key and print it once
  parley keys list                        the keys in use
  parley keys revoke ID                   a key stops working at once`

const run = Effect.fnUntraced(function* (words: ReadonlyArray<string>, workspace: string) {
  const keys = yield* ApiKeys
  const [noun, verb, id, ...rest] = words
  if (noun !== "keys" || rest.length > 0 || (id === undefined) === (verb === "revoke")) {
    return yield* new StartFault({ message: usage })
  }
  switch (verb) {
    case "create": {
      const made = yield* keys.create(workspace)
      return `${made.id}  ${Redacted.value(made.key)}`
    }
    case "list": {
      const all = yield* keys.list
      return all
        .map((key) => [key.id, key.hint, key.workspace, `used ${key.lastUsedAt?.toISOString() ?? "never"}`].join("  "))
        .join("\n")
    }
    case "revoke":
      return (yield* keys.revoke(id ?? ""))
        ? `revoked ${id}`
        : yield* new StartFault({ message: `there is no key ${id} in use` })
    default:
      return yield* new StartFault({ message: usage })
  }
})

const main = Effect.gen(function* () {
  const args = yield* Effect.try({
    try: () => parseArgs({ allowPositionals: true, options: { workspace: { type: "string" } } }),
    catch: () => new StartFault({ message: usage })
  })
  const config = readConfig(process.env)
  if (Result.isFailure(config)) return yield* new StartFault({ message: config.failure })
  const storage = ApiKeys.layer.pipe(Layer.provide(Workspaces.layer), Layer.provide(layerBeside(config.success)))
  const text = yield* run(args.positionals, args.values.workspace ?? firstWorkspace).pipe(Effect.provide(storage))
  process.stdout.write(`${text}\n`)
}).pipe(Effect.provide(Logger.layer([])))

const exit = await Effect.runPromiseExit(main)
if (Exit.isFailure(exit)) {
  const error = Cause.squash(exit.cause)
  process.stderr.write(`${error instanceof StartFault ? error.message : Cause.pretty(exit.cause)}\n`)
  process.exitCode = 1
}
