// Port: where the end of a conversation queues its analysis, in the transaction that ends it. Served by `analysis/`,
// which knows sessions; sessions need not know it.
import { Context, type Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { SessionRow } from "./SessionRow.ts"

/** Where analyses are queued. */
export class AnalysisQueue extends Context.Service<
  AnalysisQueue,
  {
    /** Once for each session; again is no fault. Part of the caller's transaction. */
    readonly put: (row: SessionRow) => Effect.Effect<void, SqlError>
    /** Whoever analyses looks at once. After the commit: before it there is nothing to be seen. */
    readonly wake: Effect.Effect<unknown>
  }
>()("@parley/workspace/AnalysisQueue") {}
