// Wallets and their entries in SQL. A statement that charges also writes the entry: the balance is always the sum of the
// entries. The entry of a work that runs is written again as it grows, each writing under a higher revision, so that a
// late one changes nothing; the wallet moves by the difference.
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"
import type { Account } from "./KnownWallets.ts"
import type { Nano } from "./Money.ts"
import { highestTier, tierOf } from "./tiers.ts"

/** One entry of usage. */
export interface Entry {
  readonly kind: string
  /** `""` where a price knows no models. */
  readonly model: string
  /** Whole pieces; below zero for what is given back. */
  readonly quantity: number
  /** The work it grows with; null for an entry that is written once. */
  readonly work: string | null
  readonly revision: number
}

/** After this revision nothing changes an entry. */
export const lastRevision = 2 ** 31 - 1

const WalletRow = Schema.Struct({
  workspace_id: Schema.String,
  id: Schema.String,
  granted_nano: Schema.BigInt,
  topped_up_nano: Schema.BigInt,
  spent_nano: Schema.BigInt,
  concurrency: Schema.NullOr(Schema.Int),
  created_at: Schema.Date,
  updated_at: Schema.Date
})
/** A wallet as it is stored. */
export type WalletRow = typeof WalletRow.Type

/** Rows of `wallets` with all their columns. */
export const walletRows = rowsOf("wallets", WalletRow)

/** Writes the entries and moves the balance; the wallet is made where there is none. */
export const enter = (sql: SqlClient.SqlClient, workspaceId: string, entries: ReadonlyArray<Entry>, granted: Nano) =>
  walletRows(sql`WITH given AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(entries)}::jsonb)
        AS g(kind text, model text, quantity bigint, work text, revision integer)
    ), entered AS (
      INSERT INTO usage_entries (workspace_id, kind, model, quantity, work, revision, cost_nano)
      SELECT ${workspaceId}, g.kind, g.model, g.quantity, g.work, g.revision,
        sign(g.quantity) * coalesce(ceil(p.amount_nano::numeric * abs(g.quantity) / p.per), 0)
      FROM given g LEFT JOIN LATERAL (SELECT amount_nano, per FROM prices
        WHERE name IN (g.kind, g.kind || ':' || g.model) ORDER BY length(name) DESC LIMIT 1) p ON true
      ORDER BY g.work, g.kind
      ON CONFLICT (work, kind) WHERE work IS NOT NULL DO UPDATE SET quantity = EXCLUDED.quantity,
          cost_nano = EXCLUDED.cost_nano, previous_nano = usage_entries.cost_nano, revision = EXCLUDED.revision
        WHERE usage_entries.revision < EXCLUDED.revision
      RETURNING cost_nano - previous_nano AS moved
    )
    INSERT INTO wallets (workspace_id, id, granted_nano, spent_nano)
    SELECT ${workspaceId}, ${newId("wallet")}, ${String(granted)}::bigint, coalesce(sum(moved), 0)::bigint FROM entered
    ON CONFLICT (workspace_id) DO UPDATE
      SET spent_nano = wallets.spent_nano + EXCLUDED.spent_nano, updated_at = now()
    RETURNING *`).pipe(onlyRow)

/** A wallet as everybody sees it. */
export const showWallet = (row: WalletRow, unlimited: boolean): Account => {
  const trial = row.granted_nano
  const toppedUp = row.topped_up_nano
  const spent = row.spent_nano
  return {
    walletId: row.id,
    workspaceId: row.workspace_id,
    balance: trial + toppedUp - spent,
    trial,
    trialLeft: spent >= trial ? 0n : trial - spent,
    toppedUp,
    unlimited,
    concurrency: row.concurrency ?? (unlimited ? highestTier : tierOf(toppedUp)),
    createdAt: row.created_at,
    updatedAt: row.updated_at
  }
}
