// Tools that the client's app runs: asked by an event, answered by another. A result that nobody waits for (unknown,
// late, repeated) is nothing.
import { Deferred, Effect } from "effect"
import type { AgentEvent, ClientEvent } from "@parley/contract/ClientEvent"
import type { PlannedTool } from "../CallPlan.ts"
import { ToolFailure } from "../ports/CallParts.ts"

/** The app's side of a tool call. */
export interface ClientTools {
  /** The app's answer; empty at once for a tool that is not to respond. Unbounded in time. */
  readonly ask: (
    callId: string,
    tool: PlannedTool,
    params: Readonly<Record<string, unknown>>
  ) => Effect.Effect<string, ToolFailure>
  readonly onResult: (event: Extract<ClientEvent, { type: "client_tool.result" }>) => void
}

/** `emit` reaches the app. */
export const make = (emit: (event: AgentEvent) => void): ClientTools => {
  const waiting = new Map<string, Deferred.Deferred<string, ToolFailure>>()
  return {
    ask: (callId, tool, params) =>
      Effect.gen(function* () {
        const answer = yield* Deferred.make<string, ToolFailure>()
        const expectsResponse = tool.mode !== "fire_and_forget"
        waiting.set(callId, answer)
        emit({ type: "client_tool.call", callId, toolName: tool.spec.name, params, expectsResponse })
        return expectsResponse ? yield* Deferred.await(answer) : ""
      }).pipe(Effect.ensuring(Effect.sync(() => waiting.delete(callId)))),
    onResult: (event) => {
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
