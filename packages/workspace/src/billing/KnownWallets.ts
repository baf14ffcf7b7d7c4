// What this process knows of wallets without asking the database: balances, and the works that run on them. What a work
// has done beyond what is charged already counts as spent, so that many works of one workspace share one balance. Whoever
// runs when nothing is left is told, once. Costs are estimated in floating point here; entries are exact.
import type { Nano } from "./Money.ts"

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

/** A work that runs. */
export interface RunningWork {
  readonly workspaceId: string
  /** Nano-units for one piece, all its kinds together. */
  readonly rate: number
  /** Pieces so far. */
  readonly done: () => number
  /** Pieces of them that the balance has paid. */
  charged: number
  /** Nothing is left; called once or more. */
  readonly stop: () => void
}

const rememberMs = 1000
const mostKnown = 10_000

/** Balances and running works of one process. */
export class KnownWallets<Work extends RunningWork> {
  readonly #accounts = new Map<string, { readonly account: Account; readonly untilMs: number }>()
  readonly #works = new Map<string, Set<Work>>()

  /** The account as the database has it now. */
  remember(account: Account, nowMs: number): void {
    if (this.#accounts.size >= mostKnown) this.#forgetIdle()
    this.#accounts.set(account.workspaceId, { account, untilMs: nowMs + rememberMs })
    this.check(account.workspaceId)
  }

  /** Undefined when it is not known, or was read too long ago. */
  fresh(workspaceId: string, nowMs: number): Account | undefined {
    const known = this.#accounts.get(workspaceId)
    return known !== undefined && nowMs < known.untilMs ? known.account : undefined
  }

  /** What the works that run have left; without bound for an unlimited account. */
  left(account: Account): number {
    if (account.unlimited) return Number.POSITIVE_INFINITY
    let left = Number(account.balance)
    for (const work of this.#works.get(account.workspaceId) ?? []) left -= uncharged(work)
    return left
  }

  /** The same for a workspace with running works. */
  leftOf(workspaceId: string): number {
    const known = this.#accounts.get(workspaceId)
    return known === undefined ? 0 : this.left(known.account)
  }

  begin(work: Work): void {
    const works = this.#works.get(work.workspaceId) ?? new Set()
    this.#works.set(work.workspaceId, works.add(work))
  }

  end(work: Work): void {
    const works = this.#works.get(work.workspaceId)
    works?.delete(work)
    if (works?.size === 0) this.#works.delete(work.workspaceId)
  }

  /** Tells the works of a workspace when nothing is left; those that cost nothing go on. */
  check(workspaceId: string): void {
    const works = this.#works.get(workspaceId)
    if (works === undefined || this.leftOf(workspaceId) > 0) return
    for (const work of works) if (work.rate > 0) work.stop()
  }

  worksOf(workspaceId: string): ReadonlyArray<Work> {
    return [...(this.#works.get(workspaceId) ?? [])]
  }

  /** By workspace. */
  running(): ReadonlyArray<readonly [workspaceId: string, works: ReadonlyArray<Work>]> {
    return [...this.#works].map(([workspaceId, works]) => [workspaceId, [...works]])
  }

  #forgetIdle(): void {
    for (const workspaceId of this.#accounts.keys()) {
      if (!this.#works.has(workspaceId)) this.#accounts.delete(workspaceId)
    }
  }
}

const uncharged = (work: RunningWork): number => Math.max(0, work.done() - work.charged) * work.rate
