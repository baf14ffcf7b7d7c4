// Accounts as the database has them, and as this process remembers them: whatever reads or moves one renews what is known.
import { type Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { firstWorkspace } from "../identity/Workspaces.ts"
import { newId } from "../storage/Id.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"
import { KnownWallets } from "./KnownWallets.ts"
import type { Work } from "./Meter.ts"
import { type Nano, unit } from "./Money.ts"
import { enter, type Entry, showWallet, type WalletRow, walletRows } from "./walletRows.ts"

/** @param trialBalance as `Platform` has it */
export const accountsOf = (
  sql: SqlClient.SqlClient,
  trialBalance: Nano | "unlimited" | undefined,
  clock: Clock.Clock
) => {
  const granted = typeof trialBalance === "bigint" ? trialBalance : defaultTrial
  const isUnlimited = unlimitedBy(sql, trialBalance)
  const wallets = new KnownWallets<Work>()

  /** `before`: done in the same moment in which the account is known. */
  const remember = Effect.fnUntraced(function* (row: WalletRow, before?: () => void) {
    const account = showWallet(row, yield* isUnlimited(row.workspace_id))
    before?.()
    wallets.remember(account, clock.currentTimeMillisUnsafe())
    return account
  }, Effect.orDie)

  /** Makes the wallet where there is none, then adds. */
  const add = (workspaceId: string, column: "topped_up_nano" | "spent_nano", nano: string) =>
    walletRows(sql`INSERT INTO wallets (workspace_id, id, granted_nano, ${sql(column)})
      VALUES (${workspaceId}, ${newId("wallet")}, ${String(granted)}::bigint, ${nano}::bigint)
      ON CONFLICT (workspace_id) DO UPDATE
        SET ${sql(column)} = wallets.${sql(column)} + EXCLUDED.${sql(column)}, updated_at = now()
      RETURNING *`).pipe(onlyRow)

  const account = Effect.fnUntraced(function* (workspaceId: string) {
    const rows = yield* walletRows(sql`SELECT * FROM wallets WHERE workspace_id = ${workspaceId}`)
    return yield* remember(rows[0] ?? (yield* add(workspaceId, "spent_nano", "0")))
  }, Effect.orDie)

  const write = (workspaceId: string, entries: ReadonlyArray<Entry>, written?: () => void) =>
    enter(sql, workspaceId, entries, granted).pipe(
      Effect.orDie,
      Effect.flatMap((row) => Effect.asVoid(remember(row, written)))
    )

  /** What the works of a workspace did goes to their entries, and its balance is read. */
  const bill = (workspaceId: string, works: ReadonlyArray<Work>) =>
    Effect.suspend(() => {
      const ahead = works.filter((work) => work.isAhead)
      if (ahead.length === 0) return Effect.asVoid(account(workspaceId))
      const given = ahead.map((work) => ({ work, entries: work.entries() }))
      return write(
        workspaceId,
        given.flatMap(({ entries }) => entries),
        () => {
          for (const { entries, work } of given) work.charged = Math.max(work.charged, entries[0]?.quantity ?? 0)
        }
      )
    })

  return { wallets, account, add, bill, remember, write }
}

/** Whether nothing is refused: by the setting, and where there is none for the operator's own workspace. */
const unlimitedBy = (sql: SqlClient.SqlClient, trialBalance: Nano | "unlimited" | undefined) => {
  let operator: string | undefined
  const look = idRows(sql`SELECT id FROM workspaces WHERE name = ${firstWorkspace}`)
  return Effect.fnUntraced(function* (workspaceId: string) {
    if (trialBalance !== undefined) return trialBalance === "unlimited"
    operator ??= (yield* look)[0]?.id
    return operator === workspaceId
  })
}

/** What a new workspace gets where the setting says nothing of an amount. */
const defaultTrial: Nano = 5n * unit

const idRows = rowsOf("workspaces", Schema.Struct({ id: Schema.String }))
