// `parley credit show | add AMOUNT | concurrency N`. A running service knows within a second.
import { type Account, Billing } from "@parley/workspace/billing/Billing"
import { decimalOf, nanoOf } from "@parley/workspace/billing/Money"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect } from "effect"
import { usage } from "./usage.ts"

export const runCredit = Effect.fnUntraced(function* (words: ReadonlyArray<string>, workspace: string) {
  const billing = yield* Billing
  const [verb, value, ...rest] = words
  if (rest.length > 0 || (value === undefined) !== (verb === "show")) return yield* usage
  const id = yield* (yield* Workspaces).find(workspace)
  if (id === undefined) return yield* new StartFault({ message: `there is no workspace ${workspace}` })
  switch (verb) {
    case "show":
      return inWords(workspace, yield* billing.account(id))
    case "add": {
      const amount = nanoOf(value ?? "")
      if (amount === undefined) return yield* new StartFault({ message: "AMOUNT must be a number such as 20 or 2.50" })
      return inWords(workspace, yield* billing.credit(id, amount, "by command"))
    }
    case "concurrency": {
      const wanted = value === "tier" ? null : Number(value)
      if (wanted !== null && !(Number.isInteger(wanted) && wanted >= 1 && wanted <= 100_000)) {
        return yield* new StartFault({ message: "N must be a whole number from 1, or tier" })
      }
      return inWords(workspace, yield* billing.allow(id, wanted))
    }
    default:
      return yield* usage
  }
})

const inWords = (workspace: string, { balance, concurrency, toppedUp, unlimited }: Account): string =>
  [
    workspace,
    `balance ${decimalOf(balance)}${unlimited ? " (unlimited)" : ""}`,
    `topped up ${decimalOf(toppedUp)}`,
    `${concurrency} at the same time`
  ].join("  ")
