// `parley keys`: API keys. One that is revoked stops working at once.
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Effect, Redacted } from "effect"
import { Argument, Command } from "effect/cli"
import { printed } from "./printed.ts"
import { workspaceFlag } from "./workspace.ts"

const create = Command.make("create", { workspace: workspaceFlag }, ({ workspace }) =>
  printed(
    Effect.gen(function* () {
      const made = yield* (yield* ApiKeys).create(workspace)
      return `${made.id}  ${Redacted.value(made.key)}`
    })
  )
).pipe(Command.withDescription("Make a key and print it once"))

const list = Command.make("list", {}, () =>
  printed(
    Effect.gen(function* () {
      const all = yield* (yield* ApiKeys).list
      return all
        .map((key) => [key.id, key.hint, key.workspace, `used ${key.lastUsedAt?.toISOString() ?? "never"}`].join("  "))
        .join("\n")
    })
  )
).pipe(Command.withDescription("The keys in use"))

const revoke = Command.make("revoke", { id: Argument.String("id") }, ({ id }) =>
  printed(
    Effect.gen(function* () {
      if (yield* (yield* ApiKeys).revoke(id)) return `revoked ${id}`
      return yield* new StartFault({ message: `there is no key ${id} in use` })
    })
  )
).pipe(Command.withDescription("A key stops working at once"))

/** `parley keys create | list | revoke ID`. */
export const keys = Command.make("keys").pipe(
  Command.withDescription("API keys"),
  Command.withSubcommands([create, list, revoke])
)
