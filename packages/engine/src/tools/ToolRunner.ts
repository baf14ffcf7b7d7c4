// The hands of a call. Tools run in the call's scope, not in a reply's: a caller who interrupts never
// tears a write in half. At most ten background calls are in flight; every call is bounded by its
// time-out and leaves a call and a result in the history: also one that is refused or cancelled. What nobody
// waits for outlives the call.
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
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
  /** Where `fire_and_forget` webhooks run, each until its own time-out. */
  readonly outliving: Scope.Scope
  readonly run: RunTool
  /** There is no client: its tools are run like the others. */
  readonly withoutApp?: boolean | undefined
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
  /** A tool of the call's own was used; it is done at once. */
  readonly used: (call: ChatToolCall, turnId: string, output: string) => void
  readonly onClientResult: (event: Extract<ClientEvent, { type: "client_tool.result" }>) => void
  readonly inFlight: () => number
  /** Everything that is waited for ends now and is settled as cancelled. */
  readonly cancel: Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* (options: ToolRunnerOptions): Effect.fn.Return<ToolRunner> {
  const { emit, isoNow, now, outliving, plan, remember } = options
  const scope = yield* Scope.fork(options.scope)
  const ids = new Set<string>()
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

  /** History and client know a call by its id, and some endpoints give the same one twice. */
  const named = (call: ChatToolCall): ChatToolCall => {
    let id = call.id
    for (let n = 2; ids.has(id); n++) id = `${call.id}_${n}`
    ids.add(id)
    return { ...call, id }
  }

  const begin = (call: ChatToolCall, tool: Known, turnId: string): ((result: Outcome) => void) => {
    const startedAt = now()
    const base = { call_id: call.id, tool_name: tool.spec.name, tool_source: tool.source, turn_id: turnId }
    remember(item({ type: "tool_call", ...base, input: call.arguments, created_at: isoNow() }))
    tellStarted(call, tool)
    return (result) => {
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
  }

  const execute = Effect.fnUntraced(function* (call: ChatToolCall, tool: PlannedTool, turnId: string) {
    const settle = begin(call, tool, turnId)
    const work = Effect.gen(function* () {
      const args = yield* parseArguments(call.arguments)
      return yield* tool.source === "client" && options.withoutApp !== true
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
      Effect.onInterrupt(() =>
        Effect.sync(() =>
          settle({ output: null, error: `cancelled: the ${outlives(tool) ? "service stopped" : "call ended"}` })
        )
      )
    )
    settle(outcome)
    return outcome
  })

  /** Fails at once, and is in the history like any other. */
  const refuse = (call: ChatToolCall, tool: Known, turnId: string, error: string): void =>
    begin(call, tool, turnId)({ output: null, error })

  const tellStarted = (call: ChatToolCall, { source, spec }: Known): void => {
    if (!plan.toolEvents) return
    const cut = call.arguments.length > eventLimit ? { inputTruncated: true } : {}
    emit({
      type: "tool.started",
      ...events(call, spec.name, source),
      input: call.arguments.slice(0, eventLimit),
      ...cut
    })
  }

  const tellDone = (call: ChatToolCall, { source, spec }: Known, result: Outcome): void => {
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
    call: (asked, turnId, onAnswer) => {
      const say = (text: string) => Effect.sync(() => onAnswer(text))
      return Effect.suspend(() => {
        const call = named(asked)
        const tool = plan.tools.find((known) => known.spec.name === call.name)
        if (tool === undefined) {
          refuse(call, { spec: { name: call.name.slice(0, 64) }, source: "unknown" }, turnId, "there is no such tool")
          return say(`Error: there is no tool named ${call.name.slice(0, 64)}.`)
        }
        if (tool.mode === "background") {
          if (background >= backgroundLimit) {
            refuse(call, tool, turnId, "too many background calls are running")
            return say("Error: too many background calls are running.")
          }
          background++
          return Effect.andThen(
            inBackground(call, tool, turnId),
            say("Started. The result comes later; go on talking.")
          )
        }
        if (tool.mode === "fire_and_forget") {
          const where = outlives(tool) ? outliving : scope
          return Effect.andThen(Effect.forkIn(execute(call, tool, turnId), where), say("Done."))
        }
        return execute(call, tool, turnId).pipe(
          Effect.map((outcome) => onAnswer(forModel(tool, outcome))),
          Effect.forkIn(scope),
          Effect.flatMap(Fiber.await),
          Effect.asVoid
        )
      })
    },
    used: (call, turnId, output) =>
      begin(named(call), { spec: { name: call.name }, source: "builtin" }, turnId)({ output, error: null }),
    onClientResult: (event) => {
      const answer = waiting.get(event.callId)
      if (answer === undefined) return
      const text = typeof event.result === "string" ? event.result : JSON.stringify(event.result ?? null)
      Deferred.doneUnsafe(
        answer,
        event.isError === true ? Effect.fail(new ToolFailure({ message: text })) : Effect.succeed(text)
      )
    },
    inFlight: () => background,
    cancel: Scope.close(scope, Exit.void)
  }
})

/** What history and client are told of a tool. */
type Known = { readonly spec: { readonly name: string }; readonly source: ToolSource }

const events = (call: ChatToolCall, name: string, source: ToolSource) =>
  ({ callId: call.id, toolName: name, toolSource: source, nodeId: null }) as const

interface Outcome {
  readonly output: string | null
  readonly error: string | null
}

const item = (what: SessionItem): Fact => ({ _tag: "ItemRecorded", item: what })

/** A client's app is gone with the call. */
const outlives = ({ mode, source }: PlannedTool): boolean => mode === "fire_and_forget" && source !== "client"

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
