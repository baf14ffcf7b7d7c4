// What each workspace may still spend, and how much at the same time. Admission stands before the
// first audio byte, so an account is remembered for a second; charges and credits of this process renew it. A
// statement that charges also writes its entry: the balance is always the sum of the entries.
import { PaymentRequired } from "@parley/contract/Errors"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { firstWorkspace } from "../identity/Workspaces.ts"
import { type Nano, unit } from "./Money.ts"
import { highestTier, tierOf } from "./tiers.ts"
import { Platform } from "../Platform.ts"
import { Database } from "../storage/Database.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"

/** The wallet of a workspace, amounts in nano-units. */
export interface Account {
  readonly walletId: string
  readonly workspaceId: string
  /** What is left of trial and top-ups; below zero when work was done past the end. */
  readonly balance: Nano
  /** Given at the start. */
  readonly trial: Nano
  /** What is left of it; it is spent first. */
  readonly trialLeft: Nano
  readonly toppedUp: Nano
  /** Nothing is ever refused for money; what is used is counted all the same. */
  readonly unlimited: boolean
  /** Requests at the same time, over all keys and all APIs. */
  readonly concurrency: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Work that was done. Fractions count as a whole piece. */
export type Usage =
  /** UTF-8 bytes of the text. */
  | { readonly kind: "tts"; readonly model: string; readonly bytes: number }
  | { readonly kind: "asr"; readonly model: string; readonly seconds: number }
  /** One successful request. */
  | { readonly kind: "voice_design"; readonly model: string }
  | { readonly kind: "agent"; readonly seconds: number }
  /** An answered telephone call, besides the agent. */
  | { readonly kind: "phone"; readonly seconds: number }
  /** A bought telephone number. */
  | { readonly kind: "phone_number"; readonly days: number }

/** Work that is about to be done; what costs nothing needs no balance. */
export interface Intent {
  readonly kind: Usage["kind"]
  readonly model: string
}

/** Admission, charges and credits of workspaces. */
export class Billing extends Context.Service<
  Billing,
  {
    /** Fails when the balance is spent, unless the intended work is free. */
    readonly admit: (workspaceId: string, intent?: Intent) => Effect.Effect<Account, PaymentRequired>
    /** Never refuses and is never half done: work that was done is counted. */
    readonly charge: (workspaceId: string, usage: Usage) => Effect.Effect<void>
    /** What was charged for work that was not done is given back: an entry of its own, below zero. */
    readonly refund: (workspaceId: string, usage: Usage) => Effect.Effect<void>
    readonly account: (workspaceId: string) => Effect.Effect<Account>
    /** A top-up by the operator; a negative amount takes one back. */
    readonly credit: (workspaceId: string, amount: Nano, note: string) => Effect.Effect<Account>
    /** Requests at the same time regardless of top-ups; null for the tier of the top-ups. */
    readonly allow: (workspaceId: string, concurrency: number | null) => Effect.Effect<Account>
  }
>()("@parley/workspace/Billing") {
  static readonly layer: Layer.Layer<Billing, never, Database | Platform | SqlClient.SqlClient> = Layer.effect(
    Billing,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const { trialBalance } = yield* Platform
      const granted = typeof trialBalance === "bigint" ? trialBalance : defaultTrial
      const isUnlimited = unlimitedBy(sql, trialBalance)
      const known = new Map<string, { readonly account: Account; readonly untilMs: number }>()

      const remember = Effect.fnUntraced(function* (row: WalletRow) {
        const account = show(row, yield* isUnlimited(row.workspace_id))
        if (known.size >= mostKnown) known.clear()
        known.set(row.workspace_id, { account, untilMs: (yield* Clock.currentTimeMillis) + rememberMs })
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

      const enter = Effect.fnUntraced(function* (workspaceId: string, usage: Usage, sign: 1 | -1) {
        yield* remember(yield* enterUsage(sql, workspaceId, usage, { sign, granted }))
      }, Effect.orDie)

      return {
        admit: Effect.fnUntraced(function* (workspaceId, intent) {
          const kept = known.get(workspaceId)
          const fresh = kept !== undefined && (yield* Clock.currentTimeMillis) < kept.untilMs
          const now = fresh ? kept.account : yield* account(workspaceId)
          if (now.unlimited || now.balance > 0n) return now
          if (intent !== undefined && (yield* isFree(sql, intent))) return now
          return yield* new PaymentRequired({ message: "The balance is spent; top it up to go on" })
        }),

        charge: Effect.fn("Billing.charge")(
          (workspaceId: string, usage: Usage) => enter(workspaceId, usage, 1),
          Effect.uninterruptible
        ),

        refund: Effect.fn("Billing.refund")(
          (workspaceId: string, usage: Usage) => enter(workspaceId, usage, -1),
          Effect.uninterruptible
        ),

        account,

        credit: Effect.fn("Billing.credit")(
          function* (workspaceId, amount, note) {
            const row = yield* sql.withTransaction(
              Effect.andThen(
                sql`INSERT INTO credit_entries (workspace_id, amount_nano, note)
                  VALUES (${workspaceId}, ${String(amount)}::bigint, ${note})`,
                add(workspaceId, "topped_up_nano", String(amount))
              )
            )
            return yield* remember(row)
          },
          Effect.orDie,
          Effect.uninterruptible
        ),

        allow: Effect.fn("Billing.allow")(function* (workspaceId, concurrency) {
          yield* add(workspaceId, "spent_nano", "0")
          const row = walletRows(sql`UPDATE wallets SET concurrency = ${concurrency}::integer
            WHERE workspace_id = ${workspaceId} RETURNING *`).pipe(onlyRow)
          return yield* remember(yield* row)
        }, Effect.orDie)
      }
    })
  )
}

const isFree = (sql: SqlClient.SqlClient, { kind, model }: Intent) =>
  priceRows(sql`SELECT amount_nano FROM prices WHERE name IN (${kind}, ${`${kind}:${model}`})
    ORDER BY length(name) DESC LIMIT 1`).pipe(
    Effect.map((rows) => rows[0] !== undefined && rows[0].amount_nano === 0n),
    Effect.orDie
  )

/** One statement writes the entry and moves the balance; the wallet is made where there is none. */
const enterUsage = (
  sql: SqlClient.SqlClient,
  workspaceId: string,
  usage: Usage,
  { granted, sign }: { readonly sign: 1 | -1; readonly granted: Nano }
) => {
  const { model, quantity } = measured(usage)
  return walletRows(sql`WITH price AS (
      SELECT amount_nano, per FROM prices WHERE name IN (${usage.kind}, ${`${usage.kind}:${model}`})
      ORDER BY length(name) DESC LIMIT 1
    ), entry AS (
      INSERT INTO usage_entries (workspace_id, kind, model, quantity, cost_nano)
      SELECT ${workspaceId}, ${usage.kind}, ${model}, ${sign}::bigint * ${quantity}::bigint,
        ${sign}::bigint *
        coalesce((SELECT ceil(amount_nano::numeric * ${quantity}::bigint / per) FROM price), 0)::bigint
      RETURNING cost_nano
    )
    INSERT INTO wallets (workspace_id, id, granted_nano, spent_nano)
    SELECT ${workspaceId}, ${newId("wallet")}, ${String(granted)}::bigint, cost_nano FROM entry
    ON CONFLICT (workspace_id) DO UPDATE
      SET spent_nano = wallets.spent_nano + EXCLUDED.spent_nano, updated_at = now()
    RETURNING *`).pipe(onlyRow)
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

const rememberMs = 1000
const mostKnown = 10_000

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
type WalletRow = typeof WalletRow.Type

const show = (row: WalletRow, unlimited: boolean): Account => {
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

const measured = (usage: Usage): { readonly model: string; readonly quantity: string } => {
  switch (usage.kind) {
    case "tts":
      return { model: usage.model, quantity: whole(usage.bytes) }
    case "asr":
      return { model: usage.model, quantity: whole(usage.seconds) }
    case "voice_design":
      return { model: usage.model, quantity: "1" }
    case "agent":
    case "phone":
      return { model: "", quantity: whole(usage.seconds) }
    case "phone_number":
      return { model: "", quantity: whole(usage.days) }
  }
}

const whole = (pieces: number): string => String(Math.max(0, Math.ceil(pieces)))

const walletRows = rowsOf("wallets", WalletRow)

const idRows = rowsOf("workspaces", Schema.Struct({ id: Schema.String }))

const priceRows = rowsOf("prices", Schema.Struct({ amount_nano: Schema.BigInt }))
