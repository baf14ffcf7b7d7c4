// The hands of a call. Tools run in the call's scope, not in a reply's: a caller who interrupts never
// tears a write in half. At most ten background calls are in flight; every call is bounded by its
// time-out and leaves a call and a result in the history.
import { Deferred, Effect, Fiber, type Scope } from "effect"
import type { AgentEvent, ClientEvent } from "@parley/contract/ClientEvent"
import type { Fact } from "@parley/contract/Fact"
import type { SessionItem, ToolSource } from "@parley/contract/SessionItem"
import type { ChatToolCall } from "@parley/llm/ChatModel"
import type { CallPlan, PlannedTool } from "../CallPlan.ts"
import { type RunTool, ToolFailure } from "../ports/CallParts.ts"

const backgroundLimit = 10
/** Strings in client events are cut here (decisions 12); the history keeps up to `outputLimit`. */
const eventLimit = 4_096
const outputLimit = 262_144

export interface ToolRunnerOptions {
  readonly plan: CallPlan
  readonly scope: Scope.Scope
  readonly run: RunTool
  readonly now: () => number
  readonly isoNow: () => string
  readonly remember: (fact: Fact) => void
  readonly emit: (event: AgentEvent) => void
  /** A background tool is done; the text is for the model. */
  readonly onNews: (text: string) => void
}

export interface ToolRunner {
  /**
   * Answers for the model through `onAnswer`, also when nobody waits any more; done when it has answered.
   * Never fails: a failure is told as the tool's error handling asks.
   */
  readonly call: (call: ChatToolCall, turnId: string, onAnswer: (text: string) => void) => Effect.Effect<void>
  readonly onClientResult: (event: Extract<ClientEvent, { type: "client_tool.result" }>) => void
  readonly inFlight: () => number
}

export const make = (options: ToolRunnerOptions): ToolRunner => {
  const { emit, isoNow, now, plan, remember, scope } = options
  const waiting = new Map<string, Deferred.Deferred<string, ToolFailure>>()
  let background = 0

  const onClient = (callId: string, tool: PlannedTool, args: Readonly<Record<string, unknown>>) =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<string, ToolFailure>()
      const expectsResponse = tool.mode !== "fire_and_forget"
      waiting.set(callId, answer)
      emit({ type: "client_tool.call", callId, toolName: tool.spec.name, params: args, expectsResponse })
      return expectsResponse ? yield* Deferred.await(answer) : ""
    }).pipe(Effect.ensuring(Effect.sync(() => waiting.delete(callId))))

  const execute = Effect.fnUntraced(function* (call: ChatToolCall, tool: PlannedTool, turnId: string) {
    const startedAt = now()
    const base = { call_id: call.id, tool_name: tool.spec.name, tool_source: tool.source, turn_id: turnId }
    remember(item({ type: "tool_call", ...base, input: call.arguments, created_at: isoNow() }))
    tellStarted(call, tool)
    const work = Effect.gen(function* () {
      const args = yield* parseArguments(call.arguments)
      return yield* tool.source === "client"
        ? onClient(call.id, tool, args)
        : options.run({ sessionId: plan.sessionId, tool, args })
    })
    const outcome = yield* work.pipe(
      Effect.timeoutOrElse({
        duration: tool.timeoutMs,
        orElse: () => Effect.fail(new ToolFailure({ message: "the tool did not answer in time" }))
      }),
      Effect.map((output) => ({ output, error: null })),
      Effect.catch((failure) => Effect.succeed({ output: null, error: failure.message })),
      Effect.onInterrupt(() => Effect.sync(() => settle({ output: null, error: "cancelled: the call ended" })))
    )
    settle(outcome)
    return outcome

    function settle(result: Outcome): void {
      const output = result.output?.slice(0, outputLimit) ?? null
      remember(
        item({
          type: "tool_result",
          ...base,
          status: result.error === null ? "completed" : "failed",
          output,
          output_truncated: (result.output?.length ?? 0) > outputLimit,
          error: result.error,
          latency_ms: Math.round(now() - startedAt),
          created_at: isoNow()
        })
      )
      tellDone(call, tool, result)
    }
  })

  const tellStarted = (call: ChatToolCall, { source, spec }: PlannedTool): void => {
    if (!plan.toolEvents) return
    const cut = call.arguments.length > eventLimit ? { inputTruncated: true } : {}
    emit({
      type: "tool.started",
      ...events(call, spec.name, source),
      input: call.arguments.slice(0, eventLimit),
      ...cut
    })
  }

  const tellDone = (call: ChatToolCall, { source, spec }: PlannedTool, result: Outcome): void => {
    if (!plan.toolEvents) return
    const which = events(call, spec.name, source)
    if (result.error !== null) return emit({ type: "tool.failed", ...which, error: result.error.slice(0, eventLimit) })
    const output = result.output ?? ""
    const cut = output.length > eventLimit ? { outputTruncated: true } : {}
    emit({ type: "tool.completed", ...which, output: output.slice(0, eventLimit), ...cut })
  }

  const inBackground = (call: ChatToolCall, tool: PlannedTool, turnId: string) =>
    execute(call, tool, turnId).pipe(
      Effect.map((outcome) => options.onNews(`Result of ${tool.spec.name}: ${forModel(tool, outcome)}`)),
      Effect.ensuring(Effect.sync(() => background--)),
      Effect.forkIn(scope)
    )

  return {
    call: (call, turnId, onAnswer) => {
      const say = (text: string) => Effect.sync(() => onAnswer(text))
      const tool = plan.tools.find((known) => known.spec.name === call.name)
      if (tool === undefined) return say(`Error: there is no tool named ${call.name.slice(0, 64)}.`)
      if (tool.mode === "background") {
        if (background >= backgroundLimit) return say("Error: too many background calls are running.")
        background++
        return Effect.andThen(inBackground(call, tool, turnId), say("Started. The result comes later; go on talking."))
      }
      if (tool.mode === "fire_and_forget") {
        return Effect.andThen(Effect.forkIn(execute(call, tool, turnId), scope), say("Done."))
      }
      return execute(call, tool, turnId).pipe(
        Effect.map((outcome) => onAnswer(forModel(tool, outcome))),
        Effect.forkIn(scope),
        Effect.flatMap(Fiber.await),
        Effect.asVoid
      )
    },
    onClientResult: (event) => {
      const answer = waiting.get(event.callId)
      if (answer === undefined) return
      const text = typeof event.result === "string" ? event.result : JSON.stringify(event.result ?? null)
      Deferred.doneUnsafe(
        answer,
        event.isError === true ? Effect.fail(new ToolFailure({ message: text })) : Effect.succeed(text)
      )
    },
    inFlight: () => background
  }
}

const events = (call: ChatToolCall, name: string, source: ToolSource) =>
  ({ callId: call.id, toolName: name, toolSource: source, nodeId: null }) as const

interface Outcome {
  readonly output: string | null
  readonly error: string | null
}

const item = (what: SessionItem): Fact => ({ _tag: "ItemRecorded", item: what })

const forModel = (tool: PlannedTool, outcome: Outcome): string => {
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
