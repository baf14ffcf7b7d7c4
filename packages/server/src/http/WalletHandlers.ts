// The account's money over HTTP. Amounts are decimal strings; the subscription fields are null, and present because clients
// of this API require them. From an unlimited account nothing is deducted, so it shows what it was given; what it used is in
// its usage.
import { notFound } from "@parley/contract/Errors"
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { defaultUsageDays } from "@parley/contract/Usage"
import { type Account, Billing } from "@parley/workspace/billing/Billing"
import { decimalOf, unit } from "@parley/workspace/billing/Money"
import { Prices } from "@parley/workspace/billing/Prices"
import { Usage } from "@parley/workspace/billing/Usage"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  MainApi,
  "wallet",
  Effect.fnUntraced(function* (handlers) {
    const billing = yield* Billing
    const prices = yield* Prices
    const usage = yield* Usage

    /** A key sees one wallet; every other one is not there. */
    const accountOf = Effect.fnUntraced(function* (userId: string) {
      const { workspaceId } = yield* Caller
      if (userId !== "self" && userId !== workspaceId) return yield* notFound("Wallet")
      return yield* billing.account(workspaceId)
    })
    const ownerOf = (userId: string) => Effect.map(accountOf(userId), ({ workspaceId }) => workspaceId)

    return handlers.handleAll({
      getApiCredit: ({ params, query }) =>
        Effect.map(accountOf(params.user_id), (account) => ({
          ...headOf(account),
          credit: decimalOf(account.unlimited ? account.trial + account.toppedUp : account.balance),
          cumulative_top_up: decimalOf(account.toppedUp),
          has_phone_sha256: false,
          has_free_credit: query.check_free_credit?.toLowerCase() === "true" ? freeOf(account) > 0n : null
        })),
      getWalletPackage: ({ params }) =>
        Effect.map(accountOf(params.user_id), (account) => ({
          ...headOf(account),
          type: account.unlimited ? "unlimited" : "trial",
          total: Number(account.trial / unit),
          balance: Number(freeOf(account) / unit),
          finished_at: null,
          stripe_customer_id: null,
          stripe_subscription_id: null,
          billing_period: null,
          current_period_end: null,
          cancel_at: null,
          cancel_at_period_end: null,
          canceled_at: null,
          scheduled_change: null,
          last_synced_at: null,
          subscription_currency: null,
          subscription_status: null,
          extra_balance: 0,
          has_used_trial: freeOf(account) < account.trial
        })),
      listUsage: Effect.fnUntraced(function* ({ params, query }) {
        const { items, ...page } = yield* usage.list(yield* ownerOf(params.user_id), query)
        return { usage: items, ...page }
      }),
      listUsageByDay: ({ params, query }) =>
        Effect.flatMap(ownerOf(params.user_id), (owner) => usage.byDay(owner, query.days ?? defaultUsageDays)),
      listPrices: Effect.fnUntraced(function* ({ params }) {
        yield* ownerOf(params.user_id)
        const list = yield* prices.list
        return {
          prices: list.map(({ amount, name, per, piece }) => ({
            name,
            amount: decimalOf(amount),
            per: Number(per),
            piece
          }))
        }
      })
    })
  })
)

/** What is left of the trial. */
const freeOf = ({ trial, trialLeft, unlimited }: Account) => (unlimited ? trial : trialLeft)

const headOf = ({ createdAt, updatedAt, walletId, workspaceId }: Account) => ({
  _id: walletId,
  user_id: workspaceId,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString()
})
