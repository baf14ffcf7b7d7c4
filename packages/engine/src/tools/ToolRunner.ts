// Runs the tools of a call, in the call's scope and not in a reply's: a caller who interrupts never tears a write in
// half. At most ten background calls are in flight. Every call is bounded by its time-out and leaves a call and one
// result in the history, also one that is refused, cancelled or broken. `fire_and_forget` outlives the call.
import { Cause, Deferred, Effect, Exit, Fiber, Option, Scope } from "effect"
import type { AgentEvent, ClientEvent } from "@parley/contract/ClientEvent"
import type { ChatToolCall } from "@parley/llm/ChatModel"
import type { CallContext } from "../CallContext.ts"
import type { PlannedTool } from "../CallPlan.ts"
import { type RunTool, ToolFailure } from "../ports/CallParts.ts"
import { cannotFail, forkSupervised } from "../supervise.ts"
import * as ToolRecord from "./ToolRecord.ts"

const backgroundLimit = 10
/** At the end of the call, tools that are slow to stop are left behind after this long. */
const cancelBoundMs = 10_000

export interface ToolRunnerOptions {
  readonly call: Pick<CallContext, "plan" | "scope" | "clock" | "remember" | "onDefect">
  /** Where `fire_and_forget` webhooks run, each until its own time-out. */
  readonly outliving: Scope.Scope
  readonly run: RunTool
  /** There is no client: its tools are run like the others. */
  readonly withoutApp?: boolean | undefined
  readonly emit: (event: AgentEvent) => void
  /** A background tool is done; the text is for the model. */
  readonly onNews: (text: string) => void
}

export interface ToolRunner {
  /**
   * Answers for the model through `onAnswer`, also when nobody waits any more; done when it has answered.
   * Never fails: a failure is told as the tool's error handling asks. A tool that breaks ends the call.
   */
  readonly call: (call: ChatToolCall, turnId: string, onAnswer: (text: string) => void) => Effect.Effect<void>
  /** A tool of the call's own was used; it is done at once. */
  readonly used: (call: ChatToolCall, turnId: string, output: string) => void
  readonly onClientResult: (event: Extract<ClientEvent, { type: "client_tool.result" }>) => void
  /** Background calls that have no result yet. */
  readonly inFlight: () => number
  /** Everything that is waited for is settled as cancelled and ends now; returns within 10 s. */
  readonly cancel: Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* (options: ToolRunnerOptions): Effect.fn.Return<ToolRunner> {
  const { call: shared, emit, outliving } = options
  const { clock, onDefect, plan, remember } = shared
  const scope = yield* Scope.fork(shared.scope)
  const record = ToolRecord.make({ clock, remember, emit, events: plan.toolEvents })
  const named = uniqueNames()
  const app = clientApp(emit)
  /** How each call that ends with this one is settled as cancelled. */
  const open = new Set<() => void>()
  let background = 0

  const work = Effect.fnUntraced(function* (call: ChatToolCall, tool: PlannedTool) {
    const args = yield* parseArguments(call.arguments)
    return yield* tool.source === "client" && options.withoutApp !== true
      ? app.ask(call.id, tool, args)
      : options.run({ sessionId: plan.sessionId, tool, args })
  })

  /** Starts the tool. `onOutcome` is called once, also when it breaks or is cancelled; then the effect returned is done. */
  const start = Effect.fnUntraced(function* (
    call: ChatToolCall,
    tool: PlannedTool,
    turnId: string,
    onOutcome: (outcome: ToolRecord.Outcome) => void
  ) {
    const over = yield* Deferred.make<void>()
    const recorded = record(call, tool, turnId)
    const settle = (outcome: ToolRecord.Outcome): void => {
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

  /** Fails at once, and is in the history like any other. */
  const refuse = (call: ChatToolCall, tool: ToolRecord.ToolName, turnId: string, error: string): void =>
    void record(call, tool, turnId)({ output: null, error })

  return {
    call: Effect.fnUntraced(function* (asked, turnId, onAnswer) {
      const call = named(asked)
      const tool = plan.tools.find((known) => known.spec.name === call.name)
      if (tool === undefined) {
        const name = call.name.slice(0, 64)
        refuse(call, { spec: { name }, source: "unknown" }, turnId, "there is no such tool")
        return onAnswer(`Error: there is no tool named ${name}.`)
      }
      if (tool.mode === "background") {
        if (background >= backgroundLimit) {
          refuse(call, tool, turnId, "too many background calls are running")
          return onAnswer("Error: too many background calls are running.")
        }
        background++
        yield* start(call, tool, turnId, (outcome) => {
          background--
          options.onNews(`Result of ${tool.spec.name}: ${forModel(tool, outcome)}`)
        })
        return onAnswer("Started. The result comes later; go on talking.")
      }
      if (tool.mode === "fire_and_forget") {
        yield* start(call, tool, turnId, () => undefined)
        return onAnswer("Done.")
      }
      yield* yield* start(call, tool, turnId, (outcome) => onAnswer(forModel(tool, outcome)))
    }),
    used: (call, turnId, output) =>
      void record(named(call), { spec: { name: call.name }, source: "builtin" }, turnId)({ output, error: null }),
    onClientResult: app.onResult,
    inFlight: () => background,
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

/** History and client know a call by its id, and some endpoints give the same one twice. */
const uniqueNames = (): ((call: ChatToolCall) => ChatToolCall) => {
  const ids = new Set<string>()
  return (call) => {
    let id = call.id
    for (let n = 2; ids.has(id); n++) id = `${call.id}_${n}`
    ids.add(id)
    return { ...call, id }
  }
}

/** Tools that the client's app runs: asked by an event, answered by another. */
const clientApp = (emit: (event: AgentEvent) => void) => {
  const waiting = new Map<string, Deferred.Deferred<string, ToolFailure>>()
  return {
    ask: (callId: string, tool: PlannedTool, params: Readonly<Record<string, unknown>>) =>
      Effect.gen(function* () {
        const answer = yield* Deferred.make<string, ToolFailure>()
        const expectsResponse = tool.mode !== "fire_and_forget"
        waiting.set(callId, answer)
        emit({ type: "client_tool.call", callId, toolName: tool.spec.name, params, expectsResponse })
        return expectsResponse ? yield* Deferred.await(answer) : ""
      }).pipe(Effect.ensuring(Effect.sync(() => waiting.delete(callId)))),
    onResult: (event: Extract<ClientEvent, { type: "client_tool.result" }>): void => {
      const answer = waiting.get(event.callId)
      if (answer === undefined) return
      const text = typeof event.result === "string" ? event.result : JSON.stringify(event.result ?? null)
      Deferred.doneUnsafe(
        answer,
        event.isError === true ? Effect.fail(new ToolFailure({ message: text })) : Effect.succeed(text)
      )
    }
  }
}

/** A client's app is gone with the call. */
const outlives = ({ mode, source }: PlannedTool): boolean => mode === "fire_and_forget" && source !== "client"

const cancelledOutcome = (tool: PlannedTool): ToolRecord.Outcome => ({
  output: null,
  error: `cancelled: the ${outlives(tool) ? "service stopped" : "call ended"}`
})

const outcomeOf = (exit: Exit.Exit<string, ToolFailure>, tool: PlannedTool): ToolRecord.Outcome => {
  if (Exit.isSuccess(exit)) return { output: exit.value, error: null }
  if (Cause.hasDies(exit.cause)) return { output: null, error: "the tool broke down" }
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  return failure === undefined ? cancelledOutcome(tool) : { output: null, error: failure.error.message }
}

const forModel = (tool: PlannedTool, outcome: ToolRecord.Outcome): string => {
  if (outcome.error === null) return outcome.output ?? ""
  return tool.errorHandling === "hide" ? "Error: the call failed." : `Error: ${outcome.error}`
}

const parseArguments = (text: string): Effect.Effect<Readonly<Record<string, unknown>>, ToolFailure> =>
  Effect.try({
    try: () => {
      const value: unknown = text.trim() === "" ? {} : JSON.parse(text)
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("not an object")
      return value as Readonly<Record<string, unknown>>
    },
    catch: () => new ToolFailure({ message: "the arguments are not a JSON object" })
  })
