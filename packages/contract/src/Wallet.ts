// What an account may still spend, in the words clients of this kind of API know.
import { Schema } from "effect"

/** Amounts are decimals. */
export const ApiCredit = Schema.Struct({
  _id: Schema.String,
  user_id: Schema.String,
  /** Decimal currency units; trial and top-ups less what was used. Nothing is deducted from an unlimited account. */
  credit: Schema.String,
  cumulative_top_up: Schema.String,
  created_at: Schema.String,
  updated_at: Schema.String,
  has_phone_sha256: Schema.Boolean,
  /** Whether some of the trial is left; null unless asked. */
  has_free_credit: Schema.NullOr(Schema.Boolean)
})
export type ApiCredit = typeof ApiCredit.Type

const none = Schema.Null

/** The trial as a package: there are no subscriptions. Whole currency units. */
export const WalletPackage = Schema.Struct({
  _id: Schema.String,
  user_id: Schema.String,
  /** `trial`, or `unlimited` where nothing is refused for money. */
  type: Schema.String,
  total: Schema.Int,
  balance: Schema.Int,
  created_at: Schema.String,
  updated_at: Schema.String,
  finished_at: none,
  stripe_customer_id: none,
  stripe_subscription_id: none,
  billing_period: none,
  current_period_end: none,
  cancel_at: none,
  cancel_at_period_end: none,
  canceled_at: none,
  scheduled_change: none,
  last_synced_at: none,
  subscription_currency: none,
  subscription_status: none,
  extra_balance: Schema.Int,
  has_used_trial: Schema.Boolean
})
export type WalletPackage = typeof WalletPackage.Type
