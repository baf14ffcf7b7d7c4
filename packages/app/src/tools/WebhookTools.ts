// Runs a call's webhook tools, each bounded by its time-out. Who waits for it, and for how long, is the engine's affair.
import { type RunTool, ToolFailure } from "@parley/engine/ports/CallParts"
import { SafeHttp } from "@parley/workspace/outbound/SafeHttp"
import { askWebhook } from "@parley/workspace/tools/WebhookCall"
import { Effect } from "effect"

export const webhookTools: Effect.Effect<RunTool, never, SafeHttp> = Effect.gen(function* () {
  const http = yield* SafeHttp
  return ({ args, tool }) => {
    if (tool.webhook === undefined) {
      return Effect.fail(new ToolFailure({ message: `${tool.spec.name} cannot be run here` }))
    }
    return askWebhook(http, tool.webhook, args, tool.timeoutMs).pipe(
      Effect.mapError(({ message }) => new ToolFailure({ message }))
    )
  }
})
