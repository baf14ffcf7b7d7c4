// `parley prices`: what work costs. A running service charges a new price at once.
import { nanoOf } from "@parley/workspace/billing/Money"
import { type Price, formatPrice, Prices } from "@parley/workspace/billing/Prices"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { printed } from "./printed.ts"

const list = Command.make("list", {}, () =>
  printed(Effect.flatMap(Prices, (prices) => Effect.map(prices.list, (all) => all.map(line).join("\n"))))
).pipe(Command.withDescription("What work costs"))

const set = Command.make(
  "set",
  {
    name: Argument.String("name").pipe(Argument.withDescription("as listed; tts:MODEL for one model only")),
    amount: Argument.String("amount").pipe(Argument.withDescription("such as 15 or 0.36"))
  },
  ({ amount, name }) =>
    printed(
      Effect.gen(function* () {
        const nano = nanoOf(amount)
        if (nano === undefined || nano < 0n) {
          return yield* new StartFault({ message: "AMOUNT must be a number such as 15 or 0.36" })
        }
        const price = yield* (yield* Prices).set(name, nano)
        return price === undefined ? yield* new StartFault({ message: `there is no price ${name}` }) : line(price)
      })
    )
).pipe(Command.withDescription("Change a price"))

/** `parley prices list | set NAME AMOUNT`. */
export const prices = Command.make("prices").pipe(
  Command.withDescription("What work costs"),
  Command.withSubcommands([list, set])
)

const line = (price: Price): string => `${price.name}  ${formatPrice(price)}`
