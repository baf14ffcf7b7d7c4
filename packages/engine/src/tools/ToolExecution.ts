// One run of a tool: bounded by its time-out, told as a call and exactly one result, whatever becomes of it. Runs in a
// scope of its own below the call's, or in the one that outlives the call.
import { Cause, Deferred, Effect, Exit, Fiber, Option, Scope } from "effect"
import type { ChatToolCall } from "@parley/llm/ChatModel"
import type { CallContext } from "../CallContext.ts"
import type { PlannedTool } from "../CallPlan.ts"
import type { ToolFailure } from "../ports/CallParts.ts"
import { cannotFail, forkSupervised } from "../supervise.ts"
import type { Outcome, ToolRecord } from "./ToolRecord.ts"

/** At the end of the call, tools that are slow to stop are left behind after this long. */
const cancelBoundMs = 10_000

/** What runs, where, and how it is recorded. */
export interface ToolExecutionOptions {
  readonly call: Pick<CallContext, "scope" | "onDefect">
  readonly outliving: Scope.Scope
  readonly record: ToolRecord
  /** What the tool does. Unbounded in time. */
  readonly work: (call: ChatToolCall, tool: PlannedTool) => Effect.Effect<string, ToolFailure>
}

/** Which call, in which turn; `onOutcome` is called once, also when the tool breaks or is cancelled. */
export interface ToolStart {
  readonly call: ChatToolCall
  readonly tool: PlannedTool
  readonly turnId: string
  readonly onOutcome: (outcome: Outcome) => void
}

/** Every tool of a call that runs. */
export interface ToolExecution {
  /** Starts the tool; the effect it gives is done after `onOutcome`. */
  readonly start: (what: ToolStart) => Effect.Effect<Effect.Effect<void>>
  /** Everything that ends with the call is settled as cancelled and stopped; returns within 10 s. */
  readonly cancel: Effect.Effect<void>
}

/** One for the call. */
export const make = Effect.fnUntraced(function* ({
  call: { onDefect, scope: callScope },
  outliving,
  record,
  work
}: ToolExecutionOptions): Effect.fn.Return<ToolExecution> {
  const scope = yield* Scope.fork(callScope)
  /** How each one that ends with this call is settled as cancelled. */
  const open = new Set<() => void>()

  const start = Effect.fnUntraced(function* ({ call, onOutcome, tool, turnId }: ToolStart) {
    const over = yield* Deferred.make<void>()
    const recorded = record(call, tool, turnId)
    const settle = (outcome: Outcome): void => {
      if (!recorded(outcome)) return
      open.delete(cancelled)
      onOutcome(outcome)
      Deferred.doneUnsafe(over, Effect.void)
    }
    const cancelled = (): void => settle(cancelledOutcome(tool))
    if (!outlives(tool)) open.add(cancelled)
    const policy = {
      child: "ToolRunner",
      // Told as the tool's result.
      onFailure: () => undefined,
      onDefect
    }
    const where = outlives(tool) ? outliving : scope
    const working = Effect.onExit(work(call, tool), (exit) => Effect.sync(() => settle(outcomeOf(exit, tool))))
    const fiber = yield* forkSupervised(where, working, policy)
    const bound = Effect.map(Effect.timeoutOption(Deferred.await(over), tool.timeoutMs), (inTime) => {
      if (Option.isSome(inTime)) return
      settle({ output: null, error: "the tool did not answer in time" })
      // Not waited for: it may take as long to stop.
      fiber.interruptUnsafe()
    })
    yield* forkSupervised(where, bound, policy)
    // The scope was closing already: it never began.
    fiber.addObserver(cancelled)
    return Deferred.await(over)
  }, Effect.uninterruptible)

  return {
    start,
    cancel: Effect.gen(function* () {
      if (open.size === 0) return yield* Scope.close(scope, Exit.void)
      for (const cancelled of open) cancelled()
      const closing = yield* forkSupervised(outliving, Scope.close(scope, Exit.void), {
        child: "ToolRunner",
        onFailure: cannotFail,
        onDefect
      })
      yield* Effect.timeoutOption(Fiber.await(closing), cancelBoundMs)
    })
  }
})

/** A client's app is gone with the call. */
const outlives = ({ mode, source }: PlannedTool): boolean => mode === "fire_and_forget" && source !== "client"

const cancelledOutcome = (tool: PlannedTool): Outcome => ({
  output: null,
  error: `cancelled: the ${outlives(tool) ? "service stopped" : "call ended"}`
})

const outcomeOf = (exit: Exit.Exit<string, ToolFailure>, tool: PlannedTool): Outcome => {
  if (Exit.isSuccess(exit)) return { output: exit.value, error: null }
  if (Cause.hasDies(exit.cause)) return { output: null, error: "the tool broke down" }
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  return failure === undefined ? cancelledOutcome(tool) : { output: null, error: failure.error.message }
}
