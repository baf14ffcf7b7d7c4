// Work that is metered while it runs: it says what it has done, and is told when the balance is spent. What it did is in
// the wallet within a second; what is not charged when its scope closes is given back.
import { PaymentRequired } from "@parley/contract/Errors"
import { Deferred, Effect } from "effect"
import type { Account, KnownWallets, RunningWork } from "./KnownWallets.ts"
import { type Entry, lastRevision } from "./walletRows.ts"

/** What kind of work is begun. */
export interface MeteredWork {
  /** Each is charged for the same pieces. */
  readonly kinds: readonly [string, ...ReadonlyArray<string>]
  readonly model?: string
  /** By the clock, in seconds from now on. */
  readonly timed?: boolean
  /** The session it belongs to, whose end charges it (`Billing.charge`); left out: `Meter.charge` does. */
  readonly session?: string
}

/** The meter of one work; synchronous but for `charge`, and cheap. */
export interface Meter {
  readonly account: Account
  /** Counts so many pieces more, if what is left covers them. */
  readonly take: (pieces: number) => boolean
  /** So many pieces are done in all. */
  readonly reached: (pieces: number) => void
  /** Charges so many pieces in all; again for more. */
  readonly charge: (pieces: number) => Effect.Effect<void>
  /** The work, interrupted with 402 when the balance is spent before it is done. */
  readonly whilePaid: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | PaymentRequired, R>
  /** Fails once the balance is spent; never ends otherwise. */
  readonly spent: Effect.Effect<never, PaymentRequired>
}

/** Nothing is left. */
export const balanceSpent = new PaymentRequired({ message: "The balance is spent; top it up to go on" })

/** A work as its process knows it. */
export class Work implements RunningWork {
  charged = 0
  #reached = 0
  #revision = 0
  #sent = 0
  #isOver = false
  readonly #spent = Deferred.makeUnsafe<never, PaymentRequired>()

  readonly workspaceId: string
  readonly id: string
  readonly kind: MeteredWork
  readonly rate: number
  readonly #elapsedMs: () => number

  /** @param elapsedMs since it began */
  constructor(made: Pick<Work, "id" | "kind" | "rate" | "workspaceId">, elapsedMs: () => number) {
    this.workspaceId = made.workspaceId
    this.id = made.id
    this.kind = made.kind
    this.rate = made.rate
    this.#elapsedMs = elapsedMs
  }

  readonly done = (): number => (this.kind.timed === true && !this.#isOver ? this.#elapsedMs() / 1000 : this.#reached)

  readonly stop = (): void => void Deferred.doneUnsafe(this.#spent, Effect.fail(balanceSpent))

  get spent(): Effect.Effect<never, PaymentRequired> {
    return Deferred.await(this.#spent)
  }

  reach(pieces: number): void {
    this.#reached = Math.max(this.#reached, pieces)
  }

  /** So many pieces, neither more nor less; the clock of a timed work stands still. */
  settle(pieces: number): void {
    this.#isOver = true
    this.#reached = pieces
  }

  /** Whether the wallet has to be told. */
  get isAhead(): boolean {
    return Math.ceil(this.done()) > this.#sent
  }

  /** Whether the wallet was told of more than `pieces`, or may have been. */
  isBeyond(pieces: number): boolean {
    return this.#sent > pieces
  }

  /** What the wallet is told now, under the next revision. */
  entries(pieces: number = this.done(), revision: number = ++this.#revision): ReadonlyArray<Entry> {
    this.#sent = Math.max(0, Math.ceil(pieces))
    const { kinds, model = "" } = this.kind
    return kinds.map((kind) => ({ kind, model, quantity: this.#sent, work: this.id, revision }))
  }
}

/** What a meter stands on. */
export interface MeterServices {
  readonly wallets: KnownWallets<Work>
  /** Writes entries, and knows the balance afterwards. */
  readonly write: (workspaceId: string, entries: ReadonlyArray<Entry>, written: () => void) => Effect.Effect<void>
}

/** The meter of a work, until its scope closes. */
export const meterOf = (work: Work, account: Account, { wallets, write }: MeterServices) => {
  let last = 0
  const settle = (pieces: number, revision?: number) =>
    Effect.suspend(() => {
      work.settle(pieces)
      const entries = work.entries(pieces, revision)
      return write(work.workspaceId, entries, () => {
        work.charged = Math.ceil(pieces)
      })
    })
  const meter: Meter = {
    account,
    take: (pieces) => {
      const isCovered = work.rate === 0 || wallets.leftOf(work.workspaceId) >= work.rate * pieces
      if (isCovered) work.reach(work.done() + pieces)
      return isCovered
    },
    reached: (pieces) => {
      work.reach(pieces)
      wallets.check(work.workspaceId)
    },
    charge: (pieces) => {
      last = pieces
      return Effect.uninterruptible(settle(pieces))
    },
    whilePaid: (effect) => Effect.raceFirst(effect, work.spent),
    spent: work.spent
  }
  const close = Effect.suspend(() => {
    wallets.end(work)
    return work.kind.session === undefined && work.isBeyond(last) ? settle(last, lastRevision) : Effect.void
  })
  return { meter, close }
}
