// What was used and what it cost: entry by entry, day by day, and the prices it is counted by. Amounts are decimal
// currency units as strings, exact.
import { Schema } from "effect"
import { moment, text } from "./Field.ts"
import { pageFields, PageQuery, wholeText } from "./Page.ts"

const what = {
  /** `tts`, `asr`, `voice_design`, `agent`; more may come. */
  kind: Schema.String,
  /** Empty where a price knows no models. */
  model: Schema.String,
  /** In the price's pieces: bytes, seconds, requests. */
  quantity: Schema.Int,
  cost: Schema.String
}

/** One charge; `cost` is a decimal amount. */
export const UsageEntry = Schema.Struct({ usage_id: Schema.String, ...what, created_at: Schema.String })
export type UsageEntry = typeof UsageEntry.Type

/** One page, newest first. */
export const UsagePage = Schema.Struct({ usage: Schema.Array(UsageEntry), ...pageFields })

/** Each given field must match. */
export const UsageQuery = {
  kind: Schema.optionalKey(text(64)),
  created_after: Schema.optionalKey(moment),
  created_before: Schema.optionalKey(moment),
  ...PageQuery
}
const UsageQueryStruct = Schema.Struct(UsageQuery)
export type UsageQuery = typeof UsageQueryStruct.Type

/** What one day (UTC) saw of one kind and model. */
export const UsageOfDay = Schema.Struct({ day: Schema.String, ...what, entries: Schema.Int })
export type UsageOfDay = typeof UsageOfDay.Type

/** Newest day first; days without work are left out. */
export const UsageDays = Schema.Struct({ days: Schema.Array(UsageOfDay), cost: Schema.String })
export type UsageDays = typeof UsageDays.Type

/** How many days, today included. */
export const UsageDaysQuery = {
  /** How many days back, today included. */
  days: Schema.optionalKey(
    wholeText.check(Schema.isBetween({ minimum: 1, maximum: 366 }, { message: "must be between 1 and 366" }))
  )
}
/** Days that are summed when none are asked for. */
export const defaultUsageDays = 30

/** `tts:MODEL` goes before `tts`. */
export const PriceList = Schema.Struct({
  prices: Schema.Array(
    Schema.Struct({ name: Schema.String, amount: Schema.String, per: Schema.Int, piece: Schema.String })
  )
})
