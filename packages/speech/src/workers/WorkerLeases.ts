// Workers that belong to one user at a time: leased ready, taken back when the scope closes. Effect's `Pool` is not used:
// it makes one wait where a caller is to be refused, keeps what has died, and starts again at once what cannot start.
import { Effect } from "effect"
import type { Scope } from "effect"
import type { RunningWorker } from "./RunningWorker.ts"
import { makeSupervisedWorker } from "./SupervisedWorker.ts"
import type { SupervisedWorker, SupervisionOptions, WorkerState } from "./SupervisedWorker.ts"
import { workerFault } from "./WorkerFault.ts"
import type { WorkerFault } from "./WorkerFault.ts"

/** How many workers there are. */
export interface LeaseOptions extends SupervisionOptions {
  /** Leases at once, and workers at most. One more is refused as `Full`. */
  readonly size: number
  /** Free workers that are kept up. One more that comes back stays too, so that leases in a row start none. */
  readonly warm: number
}

/** Workers for lease. */
export interface WorkerLeases<To, From> {
  /** A ready worker. Fails with `Full` when all are taken, with `Lost` when none can be started. */
  readonly take: Effect.Effect<RunningWorker<To, From>, WorkerFault, Scope.Scope>
}

interface Member<To, From> {
  readonly worker: SupervisedWorker<To, From>
  isLeased: boolean
}

/** Which free worker is taken first. */
const order: ReadonlyArray<WorkerState> = ["ready", "starting", "off", "paused", "stopped"]

/** The warm workers start now, further ones when they are wanted; all are stopped when the scope closes. */
export const makeWorkerLeases = <To, From>(
  options: LeaseOptions
): Effect.Effect<WorkerLeases<To, From>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const members: Array<Member<To, From>> = []
    for (let i = 0; i < options.size; i++) {
      const worker = yield* makeSupervisedWorker<To, From>({ ...options, start: "first use" })
      members.push({ worker, isLeased: false })
    }
    const free = () =>
      members
        .filter(({ isLeased }) => !isLeased)
        .toSorted((a, b) => order.indexOf(a.worker.state) - order.indexOf(b.worker.state))

    /** Keeps as many free workers up as are wanted, and ends those beyond. */
    const balance = () => {
      const up = free().filter(({ worker }) => worker.state !== "off")
      for (const { worker } of up.slice(options.warm + 1)) worker.rest()
      const missing = options.warm - up.length
      const off = free().filter(({ worker }) => worker.state === "off")
      for (const { worker } of off.slice(0, Math.max(0, missing))) worker.start()
    }
    balance()

    const release = (member: Member<To, From>) =>
      Effect.sync(() => {
        member.isLeased = false
        balance()
      })
    const lease = Effect.suspend(() => {
      const member = free()[0]
      if (member === undefined) return Effect.fail(workerFault("Full", "every worker is taken"))
      member.isLeased = true
      balance()
      return member.worker.ready.pipe(
        Effect.map((running) => ({ member, running })),
        Effect.onError(() => release(member))
      )
    })
    return {
      take: Effect.acquireRelease(lease, ({ member }) => release(member), { interruptible: true }).pipe(
        Effect.map(({ running }) => running)
      )
    }
  })
