// The account's money. `self` is the caller's workspace; any other id but its own is not found.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { BadRequest, NotFound } from "../Errors.ts"
import { Id, text } from "../Field.ts"
import { PriceList, UsageDays, UsageDaysQuery, UsagePage, UsageQuery } from "../Usage.ts"
import { ApiCredit, WalletPackage } from "../Wallet.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const params = { user_id: Id }

/** Endpoints of the account. */
export class WalletApi extends HttpApiGroup.make("wallet")
  .add(
    HttpApiEndpoint.get("getApiCredit", "/:user_id/api-credit", {
      params,
      query: {
        check_free_credit: Schema.optionalKey(text(16)),
        /** Accepted; a key belongs to one team. */
        team_id: Schema.optionalKey(text(128))
      },
      success: ApiCredit,
      error: NotFound
    }),
    HttpApiEndpoint.get("getWalletPackage", "/:user_id/package", { params, success: WalletPackage, error: NotFound }),
    HttpApiEndpoint.get("listUsage", "/:user_id/usage", {
      params,
      query: UsageQuery,
      success: UsagePage,
      error: [BadRequest, NotFound]
    }),
    HttpApiEndpoint.get("listUsageByDay", "/:user_id/usage-by-day", {
      params,
      query: UsageDaysQuery,
      success: UsageDays,
      error: NotFound
    }),
    HttpApiEndpoint.get("listPrices", "/:user_id/prices", { params, success: PriceList, error: NotFound })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .prefix("/wallet")
  .annotateMerge(OpenApi.annotations({ title: "Wallet" })) {}
