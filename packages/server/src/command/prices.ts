// `parley prices list | set NAME AMOUNT`. A running service charges the new price at once.
import { nanoOf } from "@parley/workspace/billing/Money"
import { type Price, priceInWords, Prices } from "@parley/workspace/billing/Prices"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Effect } from "effect"
import { usage } from "./usage.ts"

export const runPrices = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const prices = yield* Prices
  const [verb, name, value, ...rest] = words
  if (verb === "list" && name === undefined) return (yield* prices.list).map(line).join("\n")
  if (verb !== "set" || name === undefined || value === undefined || rest.length > 0) return yield* usage
  const amount = nanoOf(value)
  if (amount === undefined || amount < 0n) {
    return yield* new StartFault({ message: "AMOUNT must be a number such as 15 or 0.36" })
  }
  const price = yield* prices.set(name, amount)
  return price === undefined ? yield* new StartFault({ message: `there is no price ${name}` }) : line(price)
})

const line = (price: Price): string => `${price.name}  ${priceInWords(price)}`
