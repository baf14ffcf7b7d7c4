// Runs the tools of a call, in the call's scope and not in a reply's: a caller who interrupts never tears a write in
// half. At most ten background calls are in flight. Every call is bounded by its time-out and leaves a call and one
// result in the history, also one that is refused, cancelled or broken. `fire_and_forget` outlives the call.
import { Effect, type Scope } from "effect"
import type { AgentEvent, ClientEvent } from "@parley/contract/ClientEvent"
import type { ChatToolCall } from "@parley/llm/ChatModel"
import type { CallContext } from "../CallContext.ts"
import type { PlannedTool } from "../CallPlan.ts"
import { type RunTool, ToolFailure } from "../ports/CallParts.ts"
import * as ClientTools from "./ClientTools.ts"
import * as ToolExecution from "./ToolExecution.ts"
import * as ToolRecord from "./ToolRecord.ts"
import { bounded, quoted } from "../transcript/quoted.ts"

const backgroundLimit = 10

/** Whose tools, and who runs and hears of them. */
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

/** The tools of a call, as replies, client and session use them. */
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

/** One for the call; its tools are those of the plan. */
export const make = Effect.fnUntraced(function* (options: ToolRunnerOptions): Effect.fn.Return<ToolRunner> {
  const { call: shared, emit, outliving } = options
  const { clock, plan, remember } = shared
  const record = ToolRecord.make({ clock, remember, emit, events: plan.toolEvents })
  const named = uniqueNames()
  const app = ClientTools.make(emit)
  let background = 0

  const work = Effect.fnUntraced(function* (call: ChatToolCall, tool: PlannedTool) {
    const args = yield* parseArguments(call.arguments)
    return yield* tool.source === "client" && options.withoutApp !== true
      ? app.ask(call.id, tool, args)
      : options.run({ sessionId: plan.sessionId, tool, args })
  })
  const { cancel, start } = yield* ToolExecution.make({ call: shared, outliving, record, work })

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
        yield* start({
          call,
          tool,
          turnId,
          onOutcome: (outcome) => {
            background--
            const notice = `Result of ${tool.spec.name}, which you started before.`
            options.onNews(quoted("tool_result", notice, forModel(tool, outcome)))
          }
        })
        return onAnswer("Started. The result comes later; go on talking.")
      }
      if (tool.mode === "fire_and_forget") {
        yield* start({ call, tool, turnId, onOutcome: () => undefined })
        return onAnswer("Done.")
      }
      yield* yield* start({ call, tool, turnId, onOutcome: (outcome) => onAnswer(forModel(tool, outcome)) })
    }),
    used: (call, turnId, output) =>
      void record(named(call), { spec: { name: call.name }, source: "builtin" }, turnId)({ output, error: null }),
    onClientResult: app.onResult,
    inFlight: () => background,
    cancel
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

const forModel = (tool: PlannedTool, outcome: ToolRecord.Outcome): string => {
  if (outcome.error === null) return bounded(outcome.output ?? "")
  return tool.errorHandling === "hide" ? "Error: the call failed." : bounded(`Error: ${outcome.error}`)
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
