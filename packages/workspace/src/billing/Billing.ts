// What each workspace may still spend, and how much at the same time. Admission stands before the first audio byte, so an
// account is remembered for a second; charges and credits of this process renew it. Work that takes longer has a meter:
// every second what it did so far is written to its entry, and it is told when the balance is spent, by whomever.
import type { PaymentRequired } from "@parley/contract/Errors"
import { Clock, Context, Effect, Layer, Schedule, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { Platform } from "../Platform.ts"
import { Database } from "../storage/Database.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"
import { accountsOf } from "./accounts.ts"
import type { Account } from "./KnownWallets.ts"
import { balanceSpent, type Meter, type MeteredWork, meterOf, Work } from "./Meter.ts"
import type { Nano } from "./Money.ts"
import { type Entry, lastRevision, walletRows } from "./walletRows.ts"

export type { Account } from "./KnownWallets.ts"
export type { Meter } from "./Meter.ts"

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
  /** A conversation of a test, and its judgement. */
  | { readonly kind: "agent_test"; readonly seconds: number }
  /** A language model at work on a call that is over. */
  | { readonly kind: "analysis"; readonly seconds: number }
  /** A bought telephone number. */
  | { readonly kind: "phone_number"; readonly days: number }

/** Work that is about to be done; what costs nothing needs no balance. */
export interface Intent {
  readonly kind: Usage["kind"]
  readonly model: string
}

/** Admission, charges, meters and credits of workspaces. */
export class Billing extends Context.Service<
  Billing,
  {
    /** Fails when the balance is spent, unless the intended work is free. */
    readonly admit: (workspaceId: string, intent?: Intent) => Effect.Effect<Account, PaymentRequired>
    /** Admits work that is metered until the scope closes. Fails as `admit` does. */
    readonly meter: (workspaceId: string, work: MeteredWork) => Effect.Effect<Meter, PaymentRequired, Scope.Scope>
    /**
     * Never refuses and is never half done: work that was done is counted. `session`: what its meter counted so far is
     * replaced; once for each kind.
     */
    readonly charge: (workspaceId: string, usage: Usage, session?: string) => Effect.Effect<void>
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
      const clock = yield* Clock.Clock
      const { trialBalance } = yield* Platform
      const { account, add, bill, remember, wallets, write } = accountsOf(sql, trialBalance, clock)
      const rateOf = yield* makeRates(sql)

      /** The account with something left, or with nothing where the work is free. */
      const admitted = Effect.fnUntraced(function* (workspaceId: string, rate: Effect.Effect<number>) {
        const now = wallets.fresh(workspaceId, clock.currentTimeMillisUnsafe()) ?? (yield* account(workspaceId))
        if (wallets.left(now) > 0 || (yield* rate) === 0) return now
        return yield* balanceSpent
      })

      yield* Effect.suspend(() => Effect.forEach(wallets.running(), ([id, works]) => bill(id, works))).pipe(
        Effect.catchCause(() => Effect.logWarning("Running work could not be charged and will be tried again")),
        Effect.repeat(Schedule.spaced(billEveryMs)),
        Effect.forkScoped
      )

      return {
        admit: Effect.fnUntraced(function* (workspaceId, intent) {
          const rate = intent === undefined ? Effect.succeed(1) : rateOf([intent.kind], intent.model)
          return yield* admitted(workspaceId, rate)
        }),

        meter: Effect.fnUntraced(function* (workspaceId, kind) {
          const rate = yield* rateOf(kind.kinds, kind.model ?? "")
          const now = yield* admitted(workspaceId, Effect.succeed(rate))
          const sinceMs = clock.currentTimeMillisUnsafe()
          const work = new Work(
            { workspaceId, id: kind.session ?? newId("work"), kind, rate },
            () => clock.currentTimeMillisUnsafe() - sinceMs
          )
          const { close, meter } = meterOf(work, now, { wallets, write })
          yield* Effect.acquireRelease(
            Effect.sync(() => wallets.begin(work)),
            () => close
          )
          return meter
        }),

        charge: Effect.fn("Billing.charge")(function* (workspaceId: string, usage: Usage, session?: string) {
          const entry = { ...measured(usage), work: session ?? null, revision: lastRevision }
          yield* write(workspaceId, [entry], () => {
            for (const work of session === undefined ? [] : wallets.worksOf(workspaceId)) {
              if (work.id === session) wallets.end(work)
            }
          })
        }, Effect.uninterruptible),

        refund: Effect.fn("Billing.refund")(function* (workspaceId: string, usage: Usage) {
          const { quantity, ...rest } = measured(usage)
          yield* write(workspaceId, [{ ...rest, quantity: -quantity, work: null, revision: 0 }])
        }, Effect.uninterruptible),

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

/** What a piece of some kinds of work costs together, in nano-units. The price list is read again after a second. */
const makeRates = (sql: SqlClient.SqlClient) =>
  Effect.map(
    Effect.cachedWithTTL(
      priceRows(sql`SELECT name, amount_nano, per FROM prices`).pipe(
        Effect.map((rows) => new Map(rows.map((row) => [row.name, Number(row.amount_nano) / Number(row.per)]))),
        Effect.orDie
      ),
      "1 second"
    ),
    (prices) => (kinds: ReadonlyArray<string>, model: string) =>
      Effect.map(prices, (known) =>
        kinds.reduce((sum, kind) => sum + (known.get(`${kind}:${model}`) ?? known.get(kind) ?? 0), 0)
      )
  )

const billEveryMs = 1000

const measured = (usage: Usage): Pick<Entry, "kind" | "model" | "quantity"> => {
  const { kind } = usage
  switch (kind) {
    case "tts":
      return { kind, model: usage.model, quantity: whole(usage.bytes) }
    case "asr":
      return { kind, model: usage.model, quantity: whole(usage.seconds) }
    case "voice_design":
      return { kind, model: usage.model, quantity: 1 }
    case "agent":
    case "agent_test":
    case "analysis":
    case "phone":
      return { kind, model: "", quantity: whole(usage.seconds) }
    case "phone_number":
      return { kind, model: "", quantity: whole(usage.days) }
  }
}

const whole = (pieces: number): number => Math.max(0, Math.ceil(pieces))

const priceRows = rowsOf(
  "prices",
  Schema.Struct({ name: Schema.String, amount_nano: Schema.BigInt, per: Schema.BigInt })
)
