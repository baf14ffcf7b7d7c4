// Runs a call's webhook tools. What was told to go on by itself (`fire_and_forget`) is not torn when the call ends:
// it lives in the service's scope and ends with its own time-out.
import { type RunTool, ToolFailure } from "@parley/engine/ports/CallParts"
import { SafeHttp } from "@parley/workspace/outbound/SafeHttp"
import { askWebhook } from "@parley/workspace/tools/WebhookCall"
import { Effect, Fiber, type Scope } from "effect"

export const webhookTools: Effect.Effect<RunTool, never, SafeHttp | Scope.Scope> = Effect.gen(function* () {
  const http = yield* SafeHttp
  const scope = yield* Effect.scope
  return ({ args, tool }) => {
    if (tool.webhook === undefined) {
      return Effect.fail(new ToolFailure({ message: `${tool.spec.name} cannot be run here` }))
    }
    const asked = askWebhook(http, tool.webhook, args, tool.timeoutMs).pipe(
      Effect.mapError(({ message }) => new ToolFailure({ message }))
    )
    return tool.mode === "fire_and_forget" ? Effect.flatMap(Effect.forkIn(asked, scope), Fiber.join) : asked
  }
})
