// `parley keys`: API keys, what they may do and until when. One that is revoked stops working at once.
import { type KeyScope, keyScopes } from "@parley/contract/ApiKey"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { printed } from "./printed.ts"
import { workspaceFlag } from "./workspace.ts"

const optional = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const about = {
  label: optional("label", "what it is for, up to 100 characters"),
  expires: optional("expires", "when it ends, such as 2027-01-31 or 2027-01-31T12:00:00Z; never"),
  scopes: optional("scopes", `what it may do, separated by commas: ${keyScopes.join(",")}`)
}

type About = { readonly [K in keyof typeof about]: Option.Option<string> }

const create = Command.make("create", { workspace: workspaceFlag, ...about }, ({ workspace, ...given }) =>
  printed(
    Effect.gen(function* () {
      const { expiresAt = null, label = "", scopes = keyScopes } = yield* readAbout(given)
      const made = yield* (yield* ApiKeys).create(workspace, { label, scopes, expires_at: expiresAt })
      return `${made.id}  ${Redacted.value(made.key)}`
    })
  )
).pipe(Command.withDescription("Make a key and print it once"))

const list = Command.make("list", {}, () =>
  printed(
    Effect.gen(function* () {
      const all = yield* (yield* ApiKeys).list
      return all
        .map(({ expiresAt, hint, id, label, lastUsedAt, scopes, workspace }) =>
          [
            id,
            hint,
            workspace,
            scopes.join(","),
            `expires ${expiresAt?.toISOString() ?? "never"}`,
            `used ${lastUsedAt?.toISOString() ?? "never"}`,
            ...(label === "" ? [] : [label])
          ].join("  ")
        )
        .join("\n")
    })
  )
).pipe(Command.withDescription("The keys that were not revoked"))

const set = Command.make("set", { id: Argument.String("id"), ...about }, ({ id, ...given }) =>
  printed(
    Effect.gen(function* () {
      const change = yield* readAbout(given)
      if (Object.keys(change).length === 0) {
        return yield* new StartFault({ message: "say what to change: --label, --expires or --scopes" })
      }
      if (yield* (yield* ApiKeys).change(id, change)) return `changed ${id}`
      return yield* noKey(id)
    })
  )
).pipe(Command.withDescription("Change a key's label, expiry or scopes"))

const revoke = Command.make("revoke", { id: Argument.String("id") }, ({ id }) =>
  printed(
    Effect.gen(function* () {
      if (yield* (yield* ApiKeys).revoke(id)) return `revoked ${id}`
      return yield* noKey(id)
    })
  )
).pipe(Command.withDescription("A key stops working at once"))

/** `parley keys create | list | set ID | revoke ID`. */
export const keys = Command.make("keys").pipe(
  Command.withDescription("API keys"),
  Command.withSubcommands([create, list, set, revoke])
)

const noKey = (id: string) => new StartFault({ message: `there is no key ${id} in use` })

/** What was given of a key; fails with one line for what cannot be read. */
const readAbout = Effect.fnUntraced(function* (given: About) {
  const label = Option.getOrUndefined(given.label)
  if (label !== undefined && (label.length > 100 || label.includes("\0"))) {
    return yield* new StartFault({ message: "--label must have at most 100 characters" })
  }
  const expires = Option.getOrUndefined(given.expires)
  const isNever = expires === "never"
  if (expires !== undefined && !isNever && !(Date.parse(expires) > Date.now())) {
    return yield* new StartFault({ message: "--expires must be a time to come such as 2027-01-31, or never" })
  }
  const names = Option.getOrUndefined(given.scopes)?.split(",")
  const scopes = names?.flatMap((name) => keyScopes.filter((scope) => scope === name.trim()))
  if (scopes?.length !== names?.length || new Set(scopes).size !== (scopes?.length ?? 0)) {
    return yield* new StartFault({ message: `--scopes must be some of ${keyScopes.join(",")}` })
  }
  return {
    ...(label === undefined ? {} : { label }),
    ...(expires === undefined ? {} : { expiresAt: isNever ? null : new Date(expires).toISOString() }),
    ...(scopes === undefined ? {} : { scopes: scopes satisfies ReadonlyArray<KeyScope> })
  }
})
