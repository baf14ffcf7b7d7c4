// `parley keys create | list | revoke ID`.
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Effect, Redacted } from "effect"
import { usage } from "./usage.ts"

export const runKeys = Effect.fnUntraced(function* (words: ReadonlyArray<string>, workspace: string) {
  const keys = yield* ApiKeys
  const [verb, id, ...rest] = words
  if (rest.length > 0 || (id === undefined) === (verb === "revoke")) return yield* usage
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
      return yield* usage
  }
})
