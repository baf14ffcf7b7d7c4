// `parley credit`: what an account may spend. A running service knows within a second.
import { type Account, Billing } from "@parley/workspace/billing/Billing"
import { decimalOf, nanoOf } from "@parley/workspace/billing/Money"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { printed } from "./printed.ts"
import { workspaceFlag, workspaceNamed } from "./workspace.ts"

const show = Command.make("show", { workspace: workspaceFlag }, ({ workspace }) =>
  printed(
    Effect.gen(function* () {
      const id = yield* workspaceNamed(workspace)
      return lineOf(workspace, yield* (yield* Billing).account(id))
    })
  )
).pipe(Command.withDescription("What an account may spend"))

const add = Command.make(
  "add",
  {
    amount: Argument.String("amount").pipe(Argument.withDescription("such as 20 or 2.50; -- -2.50 takes back")),
    workspace: workspaceFlag
  },
  ({ amount, workspace }) =>
    printed(
      Effect.gen(function* () {
        const id = yield* workspaceNamed(workspace)
        const nano = nanoOf(amount)
        if (nano === undefined) return yield* new StartFault({ message: "AMOUNT must be a number such as 20 or 2.50" })
        return lineOf(workspace, yield* (yield* Billing).credit(id, nano, "by command"))
      })
    )
).pipe(Command.withDescription("Top an account up"))

const concurrency = Command.make(
  "concurrency",
  {
    requests: Argument.String("n").pipe(Argument.withDescription("a whole number, or tier: by what was topped up")),
    workspace: workspaceFlag
  },
  ({ requests, workspace }) =>
    printed(
      Effect.gen(function* () {
        const id = yield* workspaceNamed(workspace)
        const limit = requests === "tier" ? null : Number(requests)
        if (limit !== null && !(Number.isInteger(limit) && limit >= 1 && limit <= 100_000)) {
          return yield* new StartFault({ message: "N must be a whole number from 1, or tier" })
        }
        return lineOf(workspace, yield* (yield* Billing).allow(id, limit))
      })
    )
).pipe(Command.withDescription("How many requests of an account run at the same time"))

/** `parley credit show | add AMOUNT | concurrency N`. */
export const credit = Command.make("credit").pipe(
  Command.withDescription("What accounts may spend"),
  Command.withSubcommands([show, add, concurrency])
)

const lineOf = (workspace: string, { balance, concurrency, toppedUp, unlimited }: Account): string =>
  [
    workspace,
    `balance ${decimalOf(balance)}${unlimited ? " (unlimited)" : ""}`,
    `topped up ${decimalOf(toppedUp)}`,
    `${concurrency} at the same time`
  ].join("  ")
