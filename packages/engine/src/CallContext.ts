// What all children of one call share. Made once by the session and handed down whole.
import type { Fact } from "@parley/contract/Fact"
import type { Scope } from "effect"
import type { CallPlan } from "./CallPlan.ts"
import type { Journal } from "./journal/Journal.ts"
import type { OnDefect } from "./supervise.ts"
import type { CallClock } from "./time/CallClock.ts"
import type { Signal } from "./turn/Signal.ts"

/** One value for the whole call; none of its functions waits. */
export interface CallContext {
  readonly plan: CallPlan
  /** Closed when the call is over; what a child starts for the call's length lives in it. */
  readonly scope: Scope.Scope
  readonly clock: CallClock
  readonly journal: Pick<Journal, "note" | "fault">
  /** Every fact, in order; must not throw. */
  readonly remember: (fact: Fact) => void
  /** Into the mailbox of turn-taking; never waits. */
  readonly tell: (signal: Signal) => void
  /** Ends this call as `internal_error`, and no other. */
  readonly onDefect: OnDefect
}
